package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
)

const (
	togetherOwners = 40
	togetherShards = 25 // of each
)

// recorded are agents of as many owners that passed 100 audits in other jobs of the project; the first of them lie now.
func (w *world) recorded(liars int) (agents []*agent) {
	w.t.Helper()
	for i := range togetherOwners {
		answer := honest
		if i < liars {
			answer = liar
		}
		a := w.agent(answer)
		agents = append(agents, a)
		w.exec("insert into trust (agent_id, audits_passed, since_failure) values ($1, 100, 100)", a.id)
	}
	return agents
}

// share gives each agent its part of the job. Nothing of it is final before all are through.
func (w *world) share(job functions.Job, agents []*agent) {
	w.t.Helper()
	for _, a := range agents {
		a.do(togetherShards)
	}
	w.settleAll()
	w.check(job.ID)
}

// TestWindowsOfOwnersWithARecordAreClosedTogether: half as many of their results are audited as if each were by itself.
func TestWindowsOfOwnersWithARecordAreClosedTogether(t *testing.T) {
	t.Parallel()
	c := &court{}
	w := newWorld(t, withCourt(c))
	w.opened()
	job := w.submit(togetherOwners*togetherShards, bounded(1e-2))
	w.settleAll()
	w.share(job, w.recorded(0))
	done := w.job(job.ID)
	require.Equal(t, functions.JobFinished, done.State, "%+v", done)
	requireTruth(t, done, truth(rangeOf(togetherOwners*togetherShards)))
	require.Equal(t, int64(togetherOwners), w.count("select count(*) from windows where together = 0.5 and share > 0.07 and state = 'passed' and audits = 2"))
	require.Less(t, c.executed, 3*togetherOwners, "each by itself takes four")
	require.Zero(t, done.Shards.Provisional)
	w.requireQuiet()
}

// TestWindowsAreClosedApartWhenAnAuditOfThemFails: nothing is final by what the others have passed.
func TestWindowsAreClosedApartWhenAnAuditOfThemFails(t *testing.T) {
	t.Parallel()
	c := &court{}
	w := newWorld(t, withCourt(c))
	w.opened()
	job := w.submit(togetherOwners*togetherShards, bounded(1e-2))
	w.settleAll()
	const liars = 8 // so that not all of them are caught by audits that are made at once
	agents := w.recorded(liars)
	w.share(job, agents)
	require.Positive(t, w.count("select count(*) from windows where together > 0 and state = 'failed' and share > 0"))
	require.Zero(t, w.count("select count(*) from windows where state = 'closing'"))
	require.Equal(t, int64(togetherOwners-liars), w.count("select count(*) from windows where together = 0.5 and share = 0 and state = 'passed' and audits = 7 and risk > 0"))
	done := w.workOff(job, 100, agents[liars:]...)
	require.Equal(t, functions.JobFinished, done.State, "%+v", done)
	requireTruth(t, done, truth(rangeOf(togetherOwners*togetherShards)))
	require.Zero(t, w.count("select count(*) from windows where together > 0 and number > 1"), "what is made again is closed by itself")
	require.Zero(t, w.count("select count(*) from incidents"))
	var spent float64
	require.NoError(t, w.store.Pool.QueryRow(t.Context(), "select sum(risk) from "+w.schema()+".windows where agent_id = $1", agents[liars].id).Scan(&spent))
	require.LessOrEqual(t, spent, 1e-2*togetherOwners*togetherShards/2, "the other half of what may be wrong is spent")
	w.requireQuiet()
}
