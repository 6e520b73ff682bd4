package functions

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions/store"
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
	nudges, stop := n.subscribe(topics(channelWork, mine)...)
	others, stopOther := n.subscribe(topics(channelWork, other)...)
	wrong, stopWrong := n.subscribe(topics(channelJobs, mine)...)
	heard := func() {
		t.Helper()
		testenv.Eventually(t, func() bool {
			require.NoError(t, notify(t.Context(), s.Pool, channelWork, mine))
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

func TestWaitFor(t *testing.T) {
	t.Parallel()
	tries := 0
	require.NoError(t, waitFor(t.Context(), nil, 0, func() (bool, error) { tries++; return true, nil }))
	require.Equal(t, 1, tries, "a poll that may not wait looks once")
	nudges := make(chan struct{}, 1)
	nudges <- struct{}{}
	tries = 0
	require.NoError(t, waitFor(t.Context(), nudges, time.Hour, func() (bool, error) { tries++; return tries == 2, nil }))
	ctx, cancel := context.WithCancel(t.Context())
	err := waitFor(ctx, nil, time.Hour, func() (bool, error) { cancel(); return false, nil })
	require.ErrorIs(t, err, context.Canceled)
}
