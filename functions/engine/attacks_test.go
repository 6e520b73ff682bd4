package engine_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/flag"
	"github.com/ostraka/ostraka/functions/tenant"
	"github.com/ostraka/ostraka/functions/verify"
)

// TestMachinesOfOnePlatformAreNoAccomplices: that they gave the same wrong answers is what their platform did. It must neither keep them
// from being excused nor leave their owners one voice for ever.
func TestMachinesOfOnePlatformAreNoAccomplices(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const shards = 2 * verify.ClusterAt
	job := w.submit(shards, func(j *functions.NewJob) { j.Quorum = 3 })
	w.settleAll()
	one, two := w.agent(liar).on("arm64"), w.agent(liar).on("arm64")
	for _, a := range []*agent{one, two} {
		w.exec("insert into trust (agent_id, passed) values ($1, $2)", a.id, verify.ProbationAudits)
	}
	for _, a := range []*agent{one, two, w.agent(honest).on("amd64"), w.agent(honest).on("amd64"), w.agent(honest).on("amd64")} {
		for a.do(shards) > 0 {
			w.settleAll()
		}
	}
	require.Equal(t, functions.JobFinished, w.job(job.ID).State)
	requireTruth(t, w.job(job.ID), truth(rangeOf(shards)))
	require.Zero(t, w.count("select count(*) from trust where failed > 0 or caught_at is not null"))
	require.Equal(t, int64(2), w.count("select count(*) from refusals where agent_id = any ($1)", []uuid.UUID{one.id, two.id}))
	require.Zero(t, w.count("select count(*) from wrong_alike"), "their owners have a voice each")
	require.Len(t, w.flags(job.ID, flag.FlagDivergence), 1)
}

// TestATokenOfAnotherProjectBringsOneVoice: who joins another project with many machines is not many in one that is open to all.
func TestATokenOfAnotherProjectBringsOneVoice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := w.UpdateProject(t.Context(), w.by, w.project, tenant.ProjectChange{AgentsOpen: new(true)}, 1)
	require.NoError(t, err)
	other, _ := w.newProject("other")
	token := w.newToken(other)
	job := w.submit(2)
	w.settleAll()
	for _, name := range []string{"one", "two", "three"} {
		w.enrol(token, name, liar).do(2)
		w.settleAll()
	}
	require.Equal(t, int64(2), w.job(job.ID).Attempts, "one for each shard")
	require.Equal(t, int64(1), w.count("select count(distinct owner) from lease_cursors where owner <> ''"))
	plan, err := w.PlanJob(t.Context(), w.project, functions.NewJob{Function: "numbers", Partition: rangeOf(2), Quorum: 2})
	require.NoError(t, err)
	require.True(t, plan.Forecast.Stuck)
	done := w.workOff(job, 2, w.agent(honest), w.agent(honest))
	require.Equal(t, functions.JobFinished, done.State, done.Error)
	requireTruth(t, done, truth(rangeOf(2)))
}

// TestOwnersThatAnotherProjectInventsAreOneVoice: another project's owner names as many owners as a quorum wants, or none at all.
func TestOwnersThatAnotherProjectInventsAreOneVoice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := w.UpdateProject(t.Context(), w.by, w.project, tenant.ProjectChange{AgentsOpen: new(true)}, 1)
	require.NoError(t, err)
	other, _ := w.newProject("other")
	job := w.submit(3)
	w.settleAll()
	for _, owner := range []string{"alice", "bob", ""} {
		a := w.enrol(w.newToken(other), "invented-"+owner, liar)
		w.sql("update ostraka.agent_projects set owner = $2 where agent_id = $1", a.id, owner)
		a.do(3)
		w.settleAll()
	}
	require.Equal(t, int64(3), w.job(job.ID).Attempts, "one for each shard")
	require.Zero(t, w.job(job.ID).Shards.Accepted)
	require.Equal(t, int64(1), w.count("select count(distinct owner) from lease_cursors where owner like 'elsewhere:%'"))
	known := w.enrol(w.newToken(other), "known", honest)
	w.sql("update ostraka.agents set owner = 'carol' where id = $1", known.id)
	require.Equal(t, 3, known.do(3), "an operator knows whose it is")
	done := w.workOff(job, 3, w.agent(honest))
	require.Equal(t, functions.JobFinished, done.State, done.Error)
	requireTruth(t, done, truth(rangeOf(3)))
}
