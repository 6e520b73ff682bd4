package engine_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/flag"
	"github.com/ostraka/ostraka/functions/stepargs"
)

// trusting is a job whose bound is so weak that the first answer is final: half of the results may be wrong.
var trusting = bounded(0.5)

// TestAnIncident follows a lie that had become final before its agent was caught: the answer stays, and everybody who looks hears of it.
func TestAnIncident(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withCourt(&court{}))
	w.opened()
	patient := w.agent(honest)
	job := w.submit(30, trusting)
	w.settleAll()
	require.Equal(t, 10, patient.do(10))
	patient.answer = liar
	first := w.workOff(job, 30, patient)
	require.Equal(t, functions.JobFinished, first.State, first.Error)
	require.NotEqual(t, truth(rangeOf(30)), string(first.Aggregate.Value), "the lies are in the answer")
	require.Zero(t, first.Verification.Incidents)

	next := w.submit(20, bounded(1e-3))
	w.settleAll()
	require.Equal(t, 20, patient.do(20))
	w.settleAll()
	second := w.workOff(next, 20, w.agent(honest))
	requireTruth(t, second, truth(rangeOf(20)))
	require.NotZero(t, second.Verification.AuditsFailed)
	require.Equal(t, int64(20), second.Verification.AuditsFailed+second.Verification.Reopened, "a lie is replaced by the server's answer, or lent again")
	require.Zero(t, second.Verification.Incidents, "what was not final was taken back")

	incidents, err := w.ListIncidents(t.Context(), w.project, &job.ID, functions.ListPage{})
	require.NoError(t, err)
	require.Len(t, incidents, 1)
	require.Equal(t, patient.id, incidents[0].Agent)
	require.Equal(t, functions.JobFinished, incidents[0].JobState)
	require.NotEmpty(t, incidents[0].Reason)
	detail, err := w.GetIncident(t.Context(), w.project, incidents[0].ID)
	require.NoError(t, err)
	require.Len(t, detail.Numbers, 30)
	others, err := w.ListIncidents(t.Context(), w.project, &next.ID, functions.ListPage{})
	require.NoError(t, err)
	require.Empty(t, others)

	now := w.job(job.ID)
	require.Equal(t, first.Aggregate.Value, now.Aggregate.Value, "an answer that was given does not change")
	require.Equal(t, int64(1), now.Verification.Incidents)
	require.Equal(t, int64(30), now.Verification.Questionable)
	require.Len(t, w.events(job.ID, base.EventIncident), 1)
	require.Len(t, w.flags(job.ID, flag.FlagIncident), 1)
	e, err := w.Explain(t.Context(), w.project, job.ID)
	require.NoError(t, err)
	require.Contains(t, jsonOf(t, e), `"code":"incident"`)
	require.Contains(t, jsonOf(t, e), "ostraka job rerun "+job.ID.String())

	again := w.workOff(w.submit(30, trusting), 30, w.agent(honest))
	requireTruth(t, again, truth(rangeOf(30)))
}

// TestAnIncidentGrows: an agent that is caught again has more final results by then, and all are listed but for those that the server
// has found itself.
func TestAnIncidentGrows(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withCourt(&court{}))
	w.opened()
	job := w.submit(60, bounded(0.05))
	a := w.agent(honest)
	require.Equal(t, functions.JobFinished, w.workOff(job, 60, a).State)
	confirmed := w.job(job.ID).Verification.Rechecks
	require.NotZero(t, confirmed)
	require.Less(t, confirmed, int64(60))
	taint := stepargs.TaintArgs{Project: w.project, Agent: a.id, Reason: "an audit has failed"}
	for range 2 {
		require.NoError(t, w.Taint(t.Context(), taint))
		require.Equal(t, 60-confirmed, w.count("select shards from incidents"))
		require.Equal(t, int64(1), w.count("select times from flags where kind = 'incident'"))
	}
	incidents, err := w.ListIncidents(t.Context(), w.project, nil, functions.ListPage{})
	require.NoError(t, err)
	require.Len(t, incidents, 1)
	detail, err := w.GetIncident(t.Context(), w.project, incidents[0].ID)
	require.NoError(t, err)
	require.Len(t, detail.Numbers, int(60-confirmed))
	for _, number := range detail.Numbers {
		shard, err := w.GetShard(t.Context(), w.project, job.ID, number)
		require.NoError(t, err)
		require.NotContains(t, strings.ToLower(jsonOf(t, shard.Attempts)), functions.ServerAgent.String())
	}
	_, err = w.store.Pool.Exec(t.Context(), "update "+w.schema()+".incidents set shards = 10")
	require.NoError(t, err)
	require.NoError(t, w.Taint(t.Context(), taint))
	require.Equal(t, 60-confirmed, w.count("select shards from incidents"))
}
