package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/dispatch"
	"github.com/ostraka/ostraka/functions/review"
	"github.com/ostraka/ostraka/functions/stepargs"
)

// TestAPersonEndsTheAuditsOfAShard: an audited shard kills agents, and a person settles it. The other results of its window are not kept
// waiting for an audit that never ends.
func TestAPersonEndsTheAuditsOfAShard(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.submit(3, bounded(0.05))
	w.settleAll()
	w.stranger("first", honest).do(3)
	w.settleAll()
	audited := w.count("select count(*) from audits where state = 'drawn'")
	require.Positive(t, audited)
	victims := w.victims()
	for i := range dispatch.MaxLost {
		if lease := victims[i%len(victims)].lease(3); lease != nil {
			w.expire(lease.ID)
		}
	}
	w.settleAll()
	require.Equal(t, audited, w.count("select count(*) from shards where state = 'review'"))
	helper := w.stranger("third", honest)
	for n := range int64(3) {
		shard, err := w.GetShard(t.Context(), w.project, job.ID, n)
		require.NoError(t, err)
		if shard.State == functions.ShardReview {
			_, err := w.resolve(w.job(job.ID), n, review.Resolution{Decision: "accept", Digest: shard.Attempts[0].OutputDigest, Reason: "as it was"})
			require.NoError(t, err)
			w.settleAll()
		}
		w.check(job.ID)
	}
	done := w.workOff(job, 3, helper)
	require.Equal(t, functions.JobFinished, done.State, done.Error)
	requireTruth(t, done, truth(rangeOf(3)))
	w.requireQuiet()
}

// TestACancelledJobDrawsNoAudits: a window was to be closed when the job was cancelled.
func TestACancelledJobDrawsNoAudits(t *testing.T) {
	t.Parallel()
	for _, c := range []*court{nil, {}} {
		w := newWorld(t)
		if c != nil {
			w = newWorld(t, withCourt(c))
			w.opened()
		}
		job := w.submit(300, bounded(0.05))
		w.settleAll()
		w.stranger("first", honest).do(300)
		cancelled, drawn := false, int64(0)
		w.drain(func(s waiting) {
			if s.Kind == (stepargs.CloseWindowArgs{}).Kind() && !cancelled {
				cancelled = true
				_, err := w.CancelJob(t.Context(), w.by, w.project, job.ID)
				require.NoError(t, err)
				require.NoError(t, w.Cancel(t.Context(), stepargs.CancelArgs{Project: w.project, Job: job.ID}))
				drawn = w.count("select count(*) from audits where number > 0")
			}
			w.once(s)
		})
		require.True(t, cancelled)
		require.Equal(t, functions.JobCancelled, w.job(job.ID).State)
		require.Equal(t, drawn, w.count("select count(*) from audits where number > 0"))
	}
}
