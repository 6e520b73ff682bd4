package functions_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
)

// workOff lets agents take turns until the job ends.
func (w *world) workOff(job functions.Job, batch int, agents ...*agent) functions.Job {
	w.t.Helper()
	w.settleAll()
	for round := 0; ; round++ {
		require.Less(w.t, round, 100, "%+v", w.job(job.ID))
		for _, a := range agents {
			a.do(batch)
			w.settleAll()
			w.check(job.ID)
		}
		if now := w.job(job.ID); now.State.Ended() || now.State.Waits() {
			return now
		}
	}
}

func TestHonestAgentsKeepTheBoundAtTheirOwnExpense(t *testing.T) {
	t.Parallel()
	c := &court{}
	w := newWorld(t, withCourt(c))
	w.opened()
	job := w.submit(3000, bounded(1e-3))
	done := w.workOff(job, 300, w.agent(honest), w.agent(honest), w.agent(honest))
	require.Equal(t, functions.JobFinished, done.State, done.Error)
	requireTruth(t, done, truth(rangeOf(3000)))
	require.Equal(t, int64(3000), done.Attempts, "nobody executed a shard twice")
	require.Less(t, c.executed, 300, "the server few")
	require.Greater(t, c.executed, 60)
	require.Zero(t, done.Shards.Provisional)
	require.Zero(t, w.count("select count(*) from audits where state <> 'passed'"))
	require.Zero(t, w.count("select count(*) from flags"))
	w.requireQuiet()
}

func TestALiarIsCaughtAndItsResultsAreTakenBack(t *testing.T) {
	t.Parallel()
	c := &court{}
	w := newWorld(t, withCourt(c))
	w.opened()
	job := w.submit(2500, bounded(1e-3))
	agents := []*agent{w.agent(honest), w.agent(liar), w.agent(honest)}
	done := w.workOff(job, 200, agents...)
	require.Equal(t, functions.JobFinished, done.State, done.Error)
	requireTruth(t, done, truth(rangeOf(2500)))
	require.Equal(t, int64(1), w.count("select count(*) from trust where caught_at is not null"))
	require.Zero(t, w.count("select count(*) from shards where agent_id = $1", agents[1].id), "nothing of the liar's is accepted")
	require.Zero(t, w.count("select count(*) from incidents"))
	require.NotEmpty(t, w.events(job.ID, functions.EventReopened))
	w.requireQuiet()
}
