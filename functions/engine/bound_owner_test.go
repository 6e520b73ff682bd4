package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
)

// stranger is an agent of an owner of its own: it joins with another token.
func (w *world) stranger(name string, answer func(input string) functions.Result) *agent {
	w.t.Helper()
	return w.enrol(w.newToken(w.project), name, answer)
}

// TestAgentsOfOneOwnerAreOneVoice: who brings several agents cannot audit itself. The liars give the same wrong answers, and where no
// server executes shards two voices would be enough.
func TestAgentsOfOneOwnerAreOneVoice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.submit(5, bounded(0.05))
	w.settleAll()
	for range 3 { // all by one token
		w.sibling(liar).do(5)
		w.settleAll()
		require.False(t, w.job(job.ID).State.Ended(), "%+v", w.job(job.ID))
		w.check(job.ID)
	}
	require.Equal(t, int64(1), w.count("select count(distinct owner) from lease_cursors where owner <> ''"))
	done := w.workOff(job, 5, w.stranger("one", honest), w.stranger("two", honest), w.stranger("three", honest), w.stranger("four", honest))
	require.Equal(t, functions.JobFinished, done.State, done.Error)
	requireTruth(t, done, truth(rangeOf(5)))
}
