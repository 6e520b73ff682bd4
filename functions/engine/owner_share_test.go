package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
)

// TestAuditsFollowTheShareOfAnOwner: whoever is the quickest gives most of the results, and is audited as such.
func TestAuditsFollowTheShareOfAnOwner(t *testing.T) {
	t.Parallel()
	c := &court{}
	w := newWorld(t, withCourt(c))
	w.opened()
	job := w.submit(2000, bounded(1e-2))
	w.settleAll()
	quick, slow := w.agent(honest), w.agent(honest)
	slow.do(100)
	w.settleAll()
	done := w.workOff(job, 1000, quick, slow)
	require.Equal(t, functions.JobFinished, done.State, done.Error)
	quickAudits := w.count("select sum(audits) from windows where agent_id = $1", quick.id)
	require.Greater(t, quickAudits, int64(5*3), "a window closes with 5 where no owner has more than a tenth")
	requireTruth(t, done, truth(rangeOf(2000)))
	var spent float64
	require.NoError(t, w.store.Pool.QueryRow(t.Context(), "select sum(risk) from "+w.schema()+".windows where agent_id = $1", quick.id).Scan(&spent))
	require.Positive(t, spent)
	require.LessOrEqual(t, spent, 1e-2*2000, "whatever it does, no more of the answers are wrong than the job's error allows")
	w.requireQuiet()
}

// TestAWindowOfAnOwnerKnowsWhatTheOthersSpent: two machines of one owner share what may be wrong of a job.
func TestAWindowOfAnOwnerKnowsWhatTheOthersSpent(t *testing.T) {
	t.Parallel()
	c := &court{}
	w := newWorld(t, withCourt(c))
	w.opened()
	job := w.submit(600, bounded(1e-2))
	w.settleAll()
	done := w.workOff(job, 300, w.sibling(honest), w.sibling(honest))
	require.Equal(t, functions.JobFinished, done.State, done.Error)
	var spent float64
	require.NoError(t, w.store.Pool.QueryRow(t.Context(), "select sum(risk) from "+w.schema()+".windows").Scan(&spent))
	require.LessOrEqual(t, spent, 1e-2*600)
	w.requireQuiet()
}
