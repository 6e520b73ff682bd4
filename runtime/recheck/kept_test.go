package recheck

import (
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// rester is a sandbox that notes its end.
type rester struct {
	ended bool
	err   error
}

func (r *rester) Close() error {
	r.ended = true
	return r.err
}

func TestKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		of := func(bundle string) Served { return Served{Project: uuid.UUID{1}, Bundle: bundle} }
		k := NewKept[*rester](2, slog.New(slog.DiscardHandler))
		serve := func(of Served) (*rester, bool) { // one batch of a function
			s, found := k.Begin(of)
			if !found {
				s = &rester{}
			}
			k.Keep(s, of)
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
		require.False(t, a.ended, "two may rest")
		c, _ := serve(of("c"))
		synctest.Wait()
		require.True(t, a.ended, "it had rested longest")
		require.False(t, b.ended)

		_, found = k.Begin(of("c"))
		require.True(t, found)
		k.BeginNew() // two work: none can rest
		synctest.Wait()
		require.True(t, b.ended)
		k.End()
		k.Keep(c, of("c"))
		time.Sleep(restFor - 1)
		synctest.Wait()
		require.False(t, c.ended)
		time.Sleep(1)
		synctest.Wait()
		require.True(t, c.ended, "nobody came for it")

		d, late := &rester{err: errors.New("it is stuck")}, &rester{}
		for _, s := range []*rester{d, late} {
			k.BeginNew()
			if s == d {
				k.Keep(d, of("d"))
			}
		}
		require.ErrorIs(t, k.Close(), d.err)
		require.True(t, d.ended)
		k.Keep(late, of("e"))
		synctest.Wait()
		require.True(t, late.ended, "what comes to rest after the end is ended")
		time.Sleep(2 * restFor)
	})
}
