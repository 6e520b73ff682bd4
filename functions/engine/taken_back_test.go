package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/review"
	"github.com/ostraka/ostraka/functions/stepargs"
)

// TestAShardThatIsOpenedAgainTakesTheAnswerBack: the answer stands, and the step that ends the job by it has not run yet.
func TestAShardThatIsOpenedAgainTakesTheAnswerBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.submit(3, func(j *functions.NewJob) { j.Quorum = 1 })
	w.settleAll()
	require.Equal(t, 3, w.agent(honest).do(3))
	again := false
	w.drain(func(s waiting) {
		if s.Kind == (stepargs.FinishArgs{}).Kind() && !again {
			again = true
			_, err := w.resolve(w.job(job.ID), 1, review.Resolution{Decision: "retry", Reason: "once more"})
			require.NoError(t, err)
			w.check(job.ID)
		}
		w.once(s)
	})
	require.True(t, again)
	now := w.job(job.ID)
	require.Equal(t, functions.JobRunning, now.State)
	require.Nil(t, now.Aggregate, "the answer was over three results")
	require.Equal(t, 1, w.agent(honest).do(3))
	w.settleAll()
	done := w.job(job.ID)
	require.Equal(t, functions.JobFinished, done.State, done.Error)
	requireTruth(t, done, truth(rangeOf(3)))
	w.check(job.ID)
}
