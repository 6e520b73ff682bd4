package base

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/waiting"
	"github.com/ostraka/ostraka/testenv"
)

func TestNoticesReachThoseWhoWait(t *testing.T) {
	t.Parallel()
	s, err := store.Connect(t.Context(), testenv.Database(t))
	require.NoError(t, err)
	t.Cleanup(s.Close)
	n := NewNotices()
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { n.Run(ctx, s.Pool, slog.New(slog.DiscardHandler)) })
	t.Cleanup(running.Wait)
	t.Cleanup(cancel)
	mine, other := uuid.New(), uuid.New()
	nudges, stop := n.Subscribe(Topics(ChannelWork, mine)...)
	others, stopOther := n.Subscribe(Topics(ChannelWork, other)...)
	wrong, stopWrong := n.Subscribe(Topics(ChannelJobs, mine)...)
	heard := func() {
		t.Helper()
		testenv.Eventually(t, func() bool {
			require.NoError(t, Notify(t.Context(), s.Pool, ChannelWork, mine))
			select {
			case <-nudges:
				return true
			default:
				return false
			}
		}, "the notice arrives")
	}
	heard()
	heard() // the first may have been the nudge that all get when it connects
	for _, c := range []<-chan struct{}{others, wrong} {
		select {
		case <-c:
		default:
		}
	}
	_, err = s.Pool.Exec(t.Context(), "select pg_terminate_backend(pid) from pg_stat_activity where query like 'listen %' and pid <> pg_backend_pid() and datname = current_database()")
	require.NoError(t, err)
	<-others // all are nudged over the new connection: what came meanwhile was missed
	<-wrong
	heard()
	require.Empty(t, others)
	require.Empty(t, wrong)
	stop()
	stopOther()
	stopWrong()
	require.Empty(t, n.waiting, "nothing is left of those who have gone")
}

func TestWhoWaitsForNudgesTriesAtEachAndNotElse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := NewNotices()
		w := &Waits{notices: n, room: waiting.NewRoom(1)}
		tries := 0
		try := func() (bool, error) { tries++; return tries == 2, nil }
		n.hears.Store(true)
		require.NoError(t, w.ForNudges(t.Context(), nil, time.Hour, try))
		require.Zero(t, tries, "what is heard of is not asked for")
		nudges := make(chan struct{}, 1)
		nudges <- struct{}{}
		go func() {
			time.Sleep(time.Minute) //nolint:forbidigo // time in the bubble is not real
			nudges <- struct{}{}
		}()
		began := time.Now()
		require.NoError(t, w.ForNudges(t.Context(), nudges, time.Hour, try))
		require.Equal(t, time.Minute, time.Since(began))
		tries = 0
		n.hears.Store(false)
		began = time.Now()
		require.NoError(t, w.ForNudges(t.Context(), nil, time.Hour, try))
		require.Equal(t, 2*LookAgainRarely, time.Since(began), "nothing is heard: it asks now and then")
		ctx, cancel := context.WithCancel(t.Context())
		err := w.ForNudges(ctx, nil, time.Hour, func() (bool, error) { cancel(); return false, nil })
		require.ErrorIs(t, err, context.Canceled)
	})
}
