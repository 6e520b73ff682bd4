package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/dispatch"
	"github.com/ostraka/ostraka/functions/engine"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/stepargs"
)

func withShortcuts(o *engine.Options) { o.Shortcuts = true }

// ready is a job whose shards exist, lent to an agent, with the results to post.
func (w *world) ready(a *agent, shards int64, change ...func(*functions.NewJob)) (functions.Job, *functions.Lease, dispatch.Submission) {
	w.t.Helper()
	job := w.submit(shards, append(change, func(j *functions.NewJob) { j.Quorum = 1 })...)
	w.settleAll()
	lease := a.lease(dispatch.MaxLeaseShards)
	require.Equal(w.t, job.ID, lease.Job)
	return job, lease, a.sign(lease.ID, a.results(lease.Shards))
}

// kept is how many steps wait for a request to carry them out.
func (w *world) kept() (n int64) {
	w.t.Helper()
	require.NoError(w.t, w.store.Pool.QueryRow(w.t.Context(), "select count(*) from river.river_job where state = 'scheduled'").Scan(&n))
	return n
}

// giveUp has workers take up what requests have kept, as happens when their time is over.
func (w *world) giveUp() {
	w.t.Helper()
	_, err := w.store.Pool.Exec(w.t.Context(), "update river.river_job set state = 'available' where state = 'scheduled'")
	require.NoError(w.t, err)
}

// TestASmallJobEndsWithItsLastResult: no worker runs.
func TestASmallJobEndsWithItsLastResult(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withShortcuts)
	a := w.agent(honest)
	job, lease, sub := w.ready(a, partition.PageSize)
	_, err := w.Record(t.Context(), a.id, lease.ID, sub)
	require.NoError(t, err)
	done := w.job(job.ID)
	require.Equal(t, functions.JobFinished, done.State)
	requireTruth(t, done, truth(rangeOf(partition.PageSize)))
	require.Zero(t, w.kept(), "what was carried out is no work any more")
	for _, s := range w.steps() {
		require.Equal(t, stepargs.FollowUpArgs{}.Kind(), s.Kind)
	}
	w.settleAll()
	w.check(job.ID)

	large, lease, sub := w.ready(a, partition.PageSize+1)
	_, err = w.Record(t.Context(), a.id, lease.ID, sub)
	require.NoError(t, err)
	require.Equal(t, functions.JobRunning, w.job(large.ID).State, "more than a page is for workers")
	require.Zero(t, w.kept())
}

// TestAShortcutMayBeCutOffAnywhere: a request that dies at any of its statements leaves to the workers what it has not done, and what both do
// is done once.
func TestAShortcutMayBeCutOffAnywhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withShortcuts)
	a, left := w.agent(honest), 0
	for n := 1; ; n++ {
		require.Less(t, n, mostStatements)
		job, lease, sub := w.ready(a, 3)
		w.faults.arm(n)
		_, err := w.Record(t.Context(), a.id, lease.ID, sub)
		cut := w.disarm()
		w.check(job.ID)
		if err != nil {
			_, err = w.Record(t.Context(), a.id, lease.ID, sub)
			require.NoError(t, err)
		}
		if w.job(job.ID).State != functions.JobFinished {
			left++
		}
		w.giveUp()
		w.settleAll()
		done := w.job(job.ID)
		require.Equal(t, functions.JobFinished, done.State, "cut off at statement %d", n)
		requireTruth(t, done, truth(rangeOf(3)))
		for _, once := range []string{base.EventPage, base.EventAggregating, base.EventEnded} {
			require.Len(t, w.events(job.ID, once), 1, "%s, cut off at statement %d", once, n)
		}
		w.check(job.ID)
		if !cut {
			break
		}
	}
	require.Greater(t, left, 10, "workers had something left to do")
}
