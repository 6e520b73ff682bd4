package api

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
		r := &recent[int]{keep: time.Second, limit: time.Minute, look: func(ctx context.Context) int {
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
			}
			looks++
			return looks
		}}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		require.Zero(t, r.get(gone), "who goes away has no answer, and keeps nobody from his")
		var all sync.WaitGroup
		for range 1000 {
			all.Go(func() {
				if got := r.get(t.Context()); got != 1 {
					t.Errorf("got %d", got)
				}
			})
		}
		all.Wait()
		require.Equal(t, 1, r.get(t.Context()))
		time.Sleep(time.Second) //nolint:forbidigo // time in the bubble is not real
		require.Equal(t, 2, r.get(t.Context()), "it is a second old")
		require.Equal(t, 2, looks)
	})
}
