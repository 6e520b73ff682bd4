package engine_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/stepargs"
)

// TestFinalResultsOfALiarAreOpenedAgainWhileTheJobRuns: an agent is caught in another job, and lies of its that were final are taken back.
func TestFinalResultsOfALiarAreOpenedAgainWhileTheJobRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withCourt(&court{}))
	w.opened()
	lying := w.agent(liar)
	running := w.submit(1500, trusting) // two pages
	w.settleAll()
	require.Equal(t, 1024, lying.do(1024))
	require.Equal(t, 100, lying.do(100))
	w.settleAll()
	require.Equal(t, int64(1124), w.count("select count(*) from shards where job_id = $1 and state = 'accepted' and awaits is null", running.ID))
	ended := w.submit(10, trusting)
	w.settleAll()
	w.sql("update "+w.schema()+".jobs set created_at = created_at - interval '1 hour' where id = $1", ended.ID)
	w.sql("update ostraka.open_jobs set created_at = created_at - interval '1 hour' where job_id = $1", ended.ID)
	require.Equal(t, 10, lying.do(10))
	w.settleAll()
	require.Equal(t, functions.JobFinished, w.job(ended.ID).State)

	next := w.submit(20, bounded(1e-3))
	w.settleAll()
	w.sql("update ostraka.open_jobs set created_at = created_at - interval '2 hours' where job_id = $1", next.ID)
	require.Equal(t, 20, lying.do(20))
	w.settleAll()
	other := w.agent(honest)
	w.workOff(next, 1024, other)
	require.Zero(t, w.count("select count(*) from shards where job_id = $1 and agent_id = $2", running.ID, lying.id), "the job runs: they are opened again")
	w.check(running.ID)
	done := w.workOff(running, 1024, other)
	require.Equal(t, functions.JobFinished, done.State, done.Error)
	requireTruth(t, done, truth(rangeOf(1500)))
	require.Equal(t, int64(1), w.count("select count(*) from incidents"), "of the job that had ended")
	require.Equal(t, int64(1), w.count("select count(*) from incidents where job_id = $1 and shards = 10", ended.ID))
	w.requireQuiet()
}

// TestAWindowWaitsForAllAuditsOfItsAgent: one that was drawn before it closed may prove what the window's own audits have not met.
func TestAWindowWaitsForAllAuditsOfItsAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withCourt(&court{}))
	w.opened()
	job := w.submit(300, bounded(0.05))
	w.settleAll()
	a := w.agent(honest)
	require.Equal(t, 300, a.do(300))
	taken := false
	w.drain(func(s waiting) {
		if s.Kind == (stepargs.RecheckArgs{}).Kind() && !taken {
			taken = true
			w.exec("delete from rechecks where shard = (select min(shard) from audits where number = 0)")
		}
		w.once(s)
	})
	require.True(t, taken)
	late := w.count("select min(shard) from audits where state = 'drawn'")
	require.Equal(t, int64(1), w.count("select count(*) from audits where state = 'drawn'"))
	require.Zero(t, w.count("select count(*) from windows where state = 'passed'"))
	require.Positive(t, w.count("select count(*) from windows where state = 'closing' and passed >= audits"), "it has all audits of its own")
	require.NotEqual(t, functions.JobFinished, w.job(job.ID).State)

	batch := uuid.New()
	w.exec("insert into rechecks (job_id, shard, why) values ($1, $2, 'audit')", job.ID, late)
	w.exec("insert into recheck_batches (id) values ($1)", batch)
	require.NoError(t, w.Recheck(t.Context(), stepargs.RecheckArgs{Project: w.project, Batch: batch}))
	w.settleAll()
	require.Equal(t, functions.JobFinished, w.job(job.ID).State)
	require.Zero(t, w.count("select count(*) from windows where state <> 'passed'"))
	requireTruth(t, w.job(job.ID), truth(rangeOf(300)))
	w.requireQuiet()
}

// TestAWindowWaitsForAllAuditsOfItsOwner: those of other agents that the owner has in the job, too.
func TestAWindowWaitsForAllAuditsOfItsOwner(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withCourt(&court{}))
	w.opened()
	job := w.submit(600, bounded(0.05))
	w.settleAll()
	one, two, other := w.sibling(honest), w.sibling(honest), w.agent(honest)
	require.Equal(t, 200, one.do(200))
	require.Equal(t, 200, two.do(200))
	require.Equal(t, 200, other.do(200))
	taken := false
	w.drain(func(s waiting) {
		if s.Kind == (stepargs.RecheckArgs{}).Kind() && !taken {
			taken = true
			w.exec("delete from rechecks where shard = (select min(shard) from audits where agent_id = $1 and state = 'drawn')", one.id)
		}
		w.once(s)
	})
	require.True(t, taken)
	require.Equal(t, int64(1), w.count("select count(*) from audits where state = 'drawn'"))
	require.Zero(t, w.count("select count(*) from windows where state = 'passed' and agent_id <> $1", other.id), "neither the agent's nor its sibling's")
	require.Equal(t, int64(1), w.count("select count(*) from windows where state = 'closing' and passed >= audits and agent_id = $1", two.id))
	require.Zero(t, w.count("select count(*) from windows where state <> 'passed' and agent_id = $1", other.id), "another owner's do not wait")

	batch := uuid.New()
	w.exec("insert into rechecks (job_id, shard, why) values ($1, $2, 'audit')", job.ID, w.count("select shard from audits where state = 'drawn'"))
	w.exec("insert into recheck_batches (id) values ($1)", batch)
	require.NoError(t, w.Recheck(t.Context(), stepargs.RecheckArgs{Project: w.project, Batch: batch}))
	w.settleAll()
	require.Equal(t, functions.JobFinished, w.job(job.ID).State)
	require.Zero(t, w.count("select count(*) from windows where state <> 'passed'"))
	w.requireQuiet()
}

// TestAFailedAuditDropsTheWindowsOfItsOwner: in the same moment, whatever waits in them.
func TestAFailedAuditDropsTheWindowsOfItsOwner(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withCourt(&court{}))
	w.opened()
	job := w.submit(900, bounded(1e-3))
	w.settleAll()
	lying, sibling, other := w.sibling(liar), w.sibling(honest), w.agent(honest)
	require.Equal(t, 300, sibling.do(300))
	require.Equal(t, 300, lying.do(300))
	w.drain(func(s waiting) {
		w.once(s)
		if w.count("select count(*) from audits where state = 'failed'") > 0 {
			require.Zero(t, w.count("select count(*) from windows where agent_id = $1 and state in ('open', 'closing')", lying.id), s.Kind)
		}
	})
	require.Equal(t, int64(0), w.count("select count(*) from shards where agent_id = $1 and awaits is not null", sibling.id), "its owner's other agent is not believed either")
	require.Zero(t, w.count("select count(*) from trust where agent_id = $1 and failed > 0", sibling.id))
	done := w.workOff(job, 1024, other)
	require.Equal(t, functions.JobFinished, done.State, done.Error)
	requireTruth(t, done, truth(rangeOf(900)))
	w.requireQuiet()
}
