package engine_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/stepargs"
)

// rerunOf asks for a job that runs another one again.
func rerunOf(job uuid.UUID) func(*functions.NewJob) {
	return func(j *functions.NewJob) { j.RerunOf = &job }
}

// TestARerunIsNotLentToTheOwnersOfItsIncidents: an incident is reported at an agent's first failed audit, and an agent is caught at its
// second. The rerun that the incident advises must not go to it in between, nor to its owner's other agents.
func TestARerunIsNotLentToTheOwnersOfItsIncidents(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withCourt(&court{}))
	w.opened()
	suspect, sibling, alone := w.agent(liar), w.sibling(liar), w.agent(liar)
	w.sql("update ostraka.agents set owner = (select owner from ostraka.agents where id = $1) where id = $2", suspect.id, sibling.id)
	job := w.submit(30, trusting)
	w.settleAll()
	require.Equal(t, 20, suspect.do(20))
	require.Equal(t, 10, alone.do(10))
	require.Equal(t, functions.JobFinished, w.workOff(job, 30, suspect).State)
	for _, a := range []*agent{suspect, alone} {
		require.NoError(t, w.Taint(t.Context(), stepargs.TaintArgs{Project: w.project, Agent: a.id, Reason: "an audit has failed"}))
	}
	require.Equal(t, int64(2), w.count("select count(*) from incidents"))
	require.Zero(t, w.count("select count(*) from trust where caught_at is not null"), "nobody is caught yet")

	other := w.submit(30, trusting)
	again := w.submit(30, trusting, rerunOf(job.ID))
	third := w.submit(30, trusting, rerunOf(again.ID))
	w.settleAll()
	require.Equal(t, job.ID, *w.job(again.ID).RerunOf)
	require.Nil(t, w.job(job.ID).RerunOf)
	for _, a := range []*agent{suspect, sibling, alone} {
		lease := a.lease(8)
		require.NotNil(t, lease)
		require.Equal(t, other.ID, lease.Job, "a rerun of a rerun excludes them as well")
	}
	e, err := w.Explain(t.Context(), w.project, again.ID)
	require.NoError(t, err)
	require.Contains(t, jsonOf(t, e), `"code":"all_excluded"`)
	require.Contains(t, jsonOf(t, e), "the owner of every agent that could take them (3)")

	honest := w.agent(honest)
	_, err = w.cancel(other.ID)
	require.NoError(t, err)
	for _, id := range []uuid.UUID{again.ID, third.ID} {
		requireTruth(t, w.workOff(w.job(id), 30, suspect, honest, sibling, alone), truth(rangeOf(30)))
		require.Zero(t, w.count("select count(*) from attempts where job_id = $1 and agent_id = any ($2)", id, []uuid.UUID{suspect.id, sibling.id, alone.id}))
	}
}

// TestAShardOfARerunIsNotLeftToAgentsThatItExcludes: where nobody else is left the server executes it.
func TestAShardOfARerunIsNotLeftToAgentsThatItExcludes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withCourt(&court{}))
	w.opened()
	suspect, other := w.agent(honest), w.agent(func(string) functions.Result { return raised("ValueError", "no") })
	job := w.submit(4, trusting)
	require.Equal(t, functions.JobFinished, w.workOff(job, 4, suspect).State)
	require.NoError(t, w.Taint(t.Context(), stepargs.TaintArgs{Project: w.project, Agent: suspect.id, Reason: "an audit has failed"}))
	again := w.submit(4, func(j *functions.NewJob) { j.Quorum = 2 }, rerunOf(job.ID))
	w.settleAll()
	require.Equal(t, 4, other.do(4))
	w.settleAll()
	require.Zero(t, suspect.do(4))
	require.NoError(t, w.Stranded(t.Context(), stepargs.StrandedArgs{}))
	w.settleAll()
	require.Positive(t, w.job(again.ID).Attempts, "%+v", w.job(again.ID))
	require.NotZero(t, w.count("select count(*) from attempts where job_id = $1 and agent_id = $2", again.ID, functions.ServerAgent))
}

func TestARerunIsOfAJobThatIsThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, _, err := w.SubmitJob(t.Context(), w.by, w.project, functions.NewJob{
		Function: "numbers", Partition: rangeOf(3), RerunOf: new(uuid.New()),
	}, functions.Idempotency{})
	requireCode(t, err, "not_found")
}
