package rest

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestOneLookForAllWhoAskWithinASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		looks := 0
		r := &Recent[int]{Keep: time.Second, Limit: time.Minute, Look: func(ctx context.Context) int {
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
			}
			looks++
			return looks
		}}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		require.Zero(t, r.Get(gone), "who goes away has no answer, and keeps nobody from his")
		var all sync.WaitGroup
		for range 1000 {
			all.Go(func() {
				if got := r.Get(t.Context()); got != 1 {
					t.Errorf("got %d", got)
				}
			})
		}
		all.Wait()
		require.Equal(t, 1, r.Get(t.Context()))
		time.Sleep(time.Second) //nolint:forbidigo // time in the bubble is not real
		require.Equal(t, 2, r.Get(t.Context()), "it is a second old")
		require.Equal(t, 2, looks)
	})
}
