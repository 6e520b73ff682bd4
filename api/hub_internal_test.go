package api

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/jobs"
)

func TestHowOftenAProjectIsLookedAt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		var looks atomic.Int64
		h := &hubs{all: map[uuid.UUID]*hub{}, ctx: ctx, log: slog.New(slog.DiscardHandler), look: func(context.Context, uuid.UUID, []uuid.UUID) (jobs.ProjectLook, error) {
			looks.Add(1)
			return jobs.ProjectLook{}, nil
		}}
		kept := func() int {
			h.mu.Lock()
			defer h.mu.Unlock()
			return len(h.all)
		}
		project := uuid.New()
		var leaves []func()
		for range 200 {
			_, leave := h.join(project, nil)
			leaves = append(leaves, leave)
		}
		time.Sleep(10*hubEvery + hubEvery/2) //nolint:forbidigo // the clock is synctest's
		require.EqualValues(t, 11, looks.Load(), "one look for all")
		for _, leave := range leaves {
			leave()
		}
		time.Sleep(10 * hubEvery) //nolint:forbidigo // the clock is synctest's
		require.EqualValues(t, 11, looks.Load(), "nobody watches, nobody looks")
		require.Equal(t, 1, kept(), "who comes back finds where it was")
		time.Sleep(hubLinger) //nolint:forbidigo // the clock is synctest's
		require.Zero(t, kept())
	})
}

func TestAHubTellsWhatIsDifferent(t *testing.T) {
	h := &hub{epoch: "e", topics: map[string]topicState{}, changed: make(chan struct{}), wanted: map[uuid.UUID]int{}, rates: map[uuid.UUID][]rateSample{}}
	job := jobs.JobLook{ID: uuid.New(), State: functions.JobRunning}
	now := time.Now()
	see := func(accepted, flags int64) {
		now = now.Add(time.Second)
		job.Shards.Accepted = accepted
		h.see(jobs.ProjectLook{Jobs: []jobs.JobLook{job}, Flags: jobs.FlagsLook{Open: flags}}, nil, now)
	}
	kinds := func(seq int64, topics ...string) (list []string, last int64) {
		news, last, _ := h.since(seq, topics)
		for _, n := range news {
			list = append(list, n.kind)
		}
		return list, last
	}
	see(0, 0)
	all, last := kinds(0)
	require.Equal(t, []string{"job", "flags", "agents"}, all)
	none, _ := kinds(last)
	require.Empty(t, none)
	_, _, changed := h.since(last, nil)
	see(0, 0)
	select {
	case <-changed:
		t.Fatal("nothing was different")
	default:
	}
	see(40, 1)
	<-changed
	news, _ := kinds(last)
	require.Equal(t, []string{"job", "flags"}, news)
	news, _ = kinds(last, "flags")
	require.Equal(t, []string{"flags"}, news)
	news, _ = kinds(last, "job:"+job.ID.String())
	require.Equal(t, []string{"job"}, news)
	news, _ = kinds(last, "job:"+uuid.NewString())
	require.Empty(t, news)
	require.Contains(t, string(h.topics["job:"+job.ID.String()].data), `"per_second":20`)

	seq, known := h.resume(h.id(last))
	require.True(t, known)
	require.Equal(t, last, seq)
	for _, bad := range []string{"", "e", "e-", "e--1", "e-x", "other-1", "e-99999"} {
		_, known = h.resume(bad)
		require.False(t, known, bad)
	}
}
