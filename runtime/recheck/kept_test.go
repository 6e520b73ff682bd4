package recheck

import (
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// rester is a sandbox that notes its end.
type rester struct {
	ended atomic.Bool
	err   error
}

func (r *rester) Close() error {
	r.ended.Store(true)
	return r.err
}

func TestKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		of := func(bundle string) Served { return Served{Project: uuid.UUID{1}, Bundle: bundle} }
		k := NewKept[*rester](2, slog.New(slog.DiscardHandler))
		serve := func(of Served) (*rester, bool) { // one batch of a function
			s, made, found := k.Begin(of)
			if !found {
				s, made = &rester{}, time.Now()
			}
			k.Keep(s, of, made)
			return s, found
		}
		a, found := serve(of("a"))
		require.False(t, found)
		again, found := serve(of("a"))
		require.True(t, found)
		require.Same(t, a, again)
		stranger := of("a")
		stranger.Project = uuid.UUID{2}
		b, found := serve(stranger)
		require.False(t, found, "another project's")
		require.False(t, a.ended.Load(), "two may rest")
		c, _ := serve(of("c"))
		synctest.Wait()
		require.True(t, a.ended.Load(), "it had rested longest")
		require.False(t, b.ended.Load())

		_, _, found = k.Begin(of("c"))
		require.True(t, found)
		k.BeginNew() // two work: none can rest
		synctest.Wait()
		require.True(t, b.ended.Load())
		k.End()
		k.Keep(c, of("c"), time.Now().Add(1-keptFor))
		<-time.After(restFor - 1) // of the bubble: at once
		synctest.Wait()
		require.False(t, c.ended.Load())
		<-time.After(1) // of the bubble: at once
		synctest.Wait()
		require.True(t, c.ended.Load(), "nobody came for it")

		old := &rester{}
		k.BeginNew()
		k.Keep(old, of("old"), time.Now().Add(-keptFor))
		synctest.Wait()
		require.True(t, old.ended.Load(), "it has served for long enough")

		d, late := &rester{err: errors.New("it is stuck")}, &rester{}
		for _, s := range []*rester{d, late} {
			k.BeginNew()
			if s == d {
				k.Keep(d, of("d"), time.Now())
			}
		}
		require.ErrorIs(t, k.Close(), d.err)
		require.True(t, d.ended.Load())
		k.Keep(late, of("e"), time.Now())
		synctest.Wait()
		require.True(t, late.ended.Load(), "what comes to rest after the end is ended")
		<-time.After(2 * restFor) // of the bubble: at once
	})
}
