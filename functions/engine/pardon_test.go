package engine_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/flag"
	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/functions/review"
	"github.com/ostraka/ostraka/functions/verify"
)

// rechecksAll has every lie found.
func rechecksAll(j *functions.NewJob) { j.Quorum, j.Recheck = 0, verify.RecheckAll }

func TestACaughtAgentIsPardoned(t *testing.T) {
	t.Parallel()
	c := &court{}
	w := newWorld(t, withCourt(c))
	w.opened()
	liars := []*agent{w.agent(liar), w.agent(liar)}
	job := w.submit(60, rechecksAll)
	done := w.workOff(job, 30, liars[0], liars[1], w.agent(honest))
	require.Equal(t, functions.JobFinished, done.State, done.Error)
	flags := w.flags(job.ID, flag.FlagCaught)
	require.Len(t, flags, 2)

	again := w.submit(1, bounded(1e-3))
	w.settleAll()
	for _, l := range liars {
		_, err := w.AdmitAgent(t.Context(), w.by, w.project, l.id, "", "again")
		requireCode(t, err, "agent_caught")
		require.ErrorContains(t, err, "out-voted")
		for _, action := range []fleet.AgentAction{fleet.ResumeAgent, fleet.ApproveAgent} {
			_, err = w.DecideAgent(t.Context(), w.server, l.id, action, "again")
			requireCode(t, err, "agent_caught")
		}
		require.Zero(t, l.do(1), "it is lent nothing")
	}
	_, err := w.PardonAgent(t.Context(), w.by, w.project, liars[0].id, "")
	requireCode(t, err, "bad_reason")
	_, err = w.PardonAgent(t.Context(), w.by, w.project, uuid.New(), "nobody")
	requireCode(t, err, "not_found")

	a, err := w.PardonAgent(t.Context(), w.by, w.project, liars[0].id, "its memory was replaced")
	require.NoError(t, err)
	require.Nil(t, a.CaughtAt)
	require.Zero(t, a.Failed+a.AuditsFailed)
	require.True(t, a.Probation)
	require.Len(t, w.flags(job.ID, flag.FlagCaught), 1, "its flag is settled")
	require.Equal(t, 1, liars[0].do(1), "it is lent work again")
	_, err = w.PardonAgent(t.Context(), w.by, w.project, liars[0].id, "once more")
	require.NoError(t, err, "pardoning again is harmless")
	_, err = w.AdmitAgent(t.Context(), w.by, w.project, liars[0].id, "", "again")
	require.NoError(t, err)

	left := w.flags(job.ID, flag.FlagCaught)[0]
	detail := w.flag(left.ID)
	require.Contains(t, jsonOf(t, detail.Decisions), review.FlagPardon)
	resolved, err := w.ResolveFlag(t.Context(), w.by, w.project, left.ID, detail.Revision, review.FlagResolution{Decision: review.FlagPardon, Reason: "its memory as well"})
	require.NoError(t, err)
	require.Equal(t, review.FlagResolved, resolved.State)
	require.Zero(t, w.count("select count(*) from trust where caught_at is not null"))
	require.Equal(t, int64(3), w.count("select count(*) from audit where action = 'agent.pardon'"))
	w.settleAll()
	w.check(again.ID)
}

// TestPlanAndExplainSayWhoWasCaught: a job that waits since all agents were caught says so.
func TestAnExactAnswerIsTheServersOrThatOfManyOwners(t *testing.T) {
	t.Parallel()
	exact := functions.NewJob{Function: "numbers", Partition: rangeOf(6), AnswerError: verify.ExactRisk}
	alone := newWorld(t)
	plan, err := alone.PlanJob(t.Context(), alone.project, exact)
	require.NoError(t, err)
	require.InDelta(t, verify.ExactRisk/6, plan.Policy.TargetError, 1e-12)
	require.True(t, plan.Forecast.Stuck)
	require.Contains(t, jsonOf(t, plan.Forecast), "1 more independent owner:")
	for _, other := range []func(*functions.NewJob){
		func(j *functions.NewJob) { j.Quorum = 2 }, func(j *functions.NewJob) { j.TargetError = 1e-3 },
		func(j *functions.NewJob) { j.AnswerError = verify.ExactRisk / 2 }, func(j *functions.NewJob) { j.AnswerError = 0.6 },
	} {
		j := exact
		other(&j)
		_, err := alone.PlanJob(t.Context(), alone.project, j)
		requireCode(t, err, "bad_policy")
	}

	w := newWorld(t, withCourt(&court{}))
	w.opened()
	job := w.submit(60, func(j *functions.NewJob) { j.Quorum, j.AnswerError = 0, verify.ExactRisk })
	require.Equal(t, verify.Policy{AnswerError: verify.ExactRisk, Recheck: verify.RecheckAll}, job.Policy)
	w.workOff(job, 30, w.agent(honest), w.agent(honest))
	done := w.job(job.ID)
	require.Equal(t, functions.JobFinished, done.State)
	require.Zero(t, done.Verification.AnswerRisk)
	require.Equal(t, int64(60), done.Verification.Rechecks)
	small := w.submit(40, bounded(1e-3))
	require.InDelta(t, 0.04, w.job(small.ID).Verification.AnswerRisk, 1e-12)
}

func TestPlanAndExplainSayWhoWasCaught(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withCourt(&court{}))
	w.opened()
	first := w.submit(60, rechecksAll)
	w.workOff(first, 30, w.agent(liar), w.agent(liar), w.agent(honest))
	require.Equal(t, int64(2), w.count("select count(*) from trust where caught_at is not null"))
	_, err := w.store.Pool.Exec(t.Context(), "update ostraka.agents set last_seen_at = now()")
	require.NoError(t, err)
	job := w.submit(1, bounded(1e-3))
	w.settleAll()
	e, err := w.Explain(t.Context(), w.project, job.ID)
	require.NoError(t, err)
	require.Contains(t, jsonOf(t, e), "2 of 3 agents were caught")
	require.Contains(t, jsonOf(t, e), "ostraka agent list")
	plan, err := w.PlanJob(t.Context(), w.project, functions.NewJob{Function: "numbers", Partition: rangeOf(6), TargetError: 1e-3})
	require.NoError(t, err)
	require.Equal(t, 2, plan.Caught)
}
