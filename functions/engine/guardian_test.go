package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/dispatch"
	"github.com/ostraka/ostraka/functions/planner"
	"github.com/ostraka/ostraka/functions/policy"
	"github.com/ostraka/ostraka/guardian"
)

func TestOverridesEndByThemselves(t *testing.T) {
	t.Parallel()
	clock := &watch{}
	w := newWorld(t, guarded(clock))
	ctx := t.Context()
	rule := w.guard(guardRule("no-keys", guardian.Deny, "", guardian.KeyCreate))
	create := func() error {
		_, _, _, err := w.CreateKey(ctx, w.by, w.project, "k", functions.RoleViewer, nil, functions.Idempotency{})
		return err
	}
	requireCode(t, create(), "denied_by_guardian")
	o, _, err := w.AddOverride(ctx, w.by, w.project, policy.NewOverride{Rule: "no-keys", Reason: "today", For: time.Hour}, functions.Idempotency{})
	require.NoError(t, err)
	require.NoError(t, create())
	clock.step(time.Hour - time.Minute)
	require.NoError(t, create())
	clock.step(2 * time.Minute)
	requireCode(t, create(), "denied_by_guardian")
	o, err = w.GetOverride(ctx, w.project, o.ID)
	require.NoError(t, err)
	require.False(t, o.InForce)
	_, _, err = w.AddOverride(ctx, w.by, w.project, policy.NewOverride{Rule: "no-keys", Reason: "x", For: policy.MaxOverrideLife + time.Second}, functions.Idempotency{})
	requireCode(t, err, "bad_override")
	_, _, err = w.AddOverride(ctx, w.by, w.project, policy.NewOverride{Rule: "none", Reason: "x", For: time.Hour}, functions.Idempotency{})
	requireCode(t, err, "not_found")

	// A rule has versions, and the newest alone decides.
	rule.Then = guardian.Allow
	_, err = w.SetGuardianRule(ctx, w.by, w.project, rule.Rule, 7)
	require.ErrorIs(t, err, functions.ErrRevision)
	test, err := w.TestGuardianRule(ctx, w.project, rule.Rule)
	require.NoError(t, err)
	require.NotEmpty(t, test.Differences)
	_, err = w.SetGuardianRule(ctx, w.by, w.project, rule.Rule, 1)
	require.NoError(t, err)
	require.NoError(t, create())
	versions, err := w.GetGuardianRule(ctx, w.project, "no-keys")
	require.NoError(t, err)
	require.Len(t, versions, 2)
	st, err := w.GuardianStatus(ctx, w.project)
	require.NoError(t, err)
	require.NotEmpty(t, st.Decisions)
	_, err = w.SetGuardianRule(ctx, w.by, w.project, guardRule("stop", guardian.Deny, "", guardian.JobCancel), 0)
	requireCode(t, err, "bad_guardian_rule")
	_, err = w.SetGuardianRule(ctx, w.by, w.project, guardRule("bad", guardian.Deny, "job.shards >", guardian.JobSubmit), 0)
	requireCode(t, err, "bad_guardian_rule")
}

func TestConditionsMakeAJobStricter(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	rule := guardRule("strict", guardian.Allow, "", guardian.JobSubmit)
	rule.Conditions = guardian.Conditions{Quorum: 3, Shards: 5, Owners: []string{"ann"}}
	w.guard(rule)
	one := w.agent(honest)
	job := w.submit(5)
	require.Equal(t, 3, job.Policy.Quorum)
	require.Equal(t, []string{"ann"}, job.Conditions.Owners)
	_, _, err := w.SubmitJob(t.Context(), w.by, w.project, functions.NewJob{Function: "numbers", Partition: rangeOf(6), Quorum: 2}, functions.Idempotency{})
	requireCode(t, err, "denied_by_guardian")
	require.ErrorContains(t, err, "at most 5")
	w.settleAll()
	require.Zero(t, w.leasesOf(job.ID, one), "it is nobody's of whom the rule says so")
	_, err = w.AssignOwner(t.Context(), w.server, one.id, "ann")
	require.NoError(t, err)
	_, err = w.AdmitAgent(t.Context(), w.by, w.project, one.id, "ann", "")
	require.NoError(t, err)
	require.NotZero(t, w.leasesOf(job.ID, one))
}

// TestWhatWasSubmittedIsSubmitted holds that a request which is sent again gives the job that it made, whatever rules say meanwhile.
func TestWhatWasSubmittedIsSubmitted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	key := functions.Idempotency{Key: "k"}
	job, replayed, err := w.trySubmit(1, key)
	require.NoError(t, err)
	require.False(t, replayed)
	for _, then := range []guardian.Verdict{guardian.Ask, guardian.Deny} {
		w.guard(guardRule(string(then), then, "", guardian.JobSubmit))
		again, replayed, err := w.trySubmit(1, key)
		require.NoError(t, err)
		require.True(t, replayed)
		require.Equal(t, job.ID, again.ID)
	}
	_, _, err = w.trySubmit(1, functions.Idempotency{Key: "another"})
	requireCode(t, err, "denied_by_guardian")
	require.Len(t, w.decided(guardian.JobSubmit), 2, "nothing is decided about what was made")
	require.Empty(t, w.waiting())
	require.Equal(t, int64(1), w.count("select count(*) from jobs"))
}

// TestDispatchIsDecidedOnce holds that a lease has one decision, which is in the log, and that what is refused is not lent.
func TestDispatchIsDecidedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	one := w.agent(honest)
	job := w.submit(4)
	w.settleAll()
	lease, err := w.Lease(t.Context(), one.id, dispatch.Poll{Most: 2}, functions.Idempotency{})
	require.NoError(t, err)
	require.Len(t, lease.Shards, 2)
	decided := w.decided(guardian.JobDispatch)
	require.Len(t, decided, 1)
	require.Equal(t, "allow", decided[0]["decision"])
	require.Equal(t, one.id.String(), decided[0]["agent"])
	require.Equal(t, job.ID.String(), decided[0]["job"])

	_, err = w.SetGuardianRule(t.Context(), w.server, uuid.Nil, guardRule("stop", guardian.Deny, `agent.id == "`+one.id.String()+`"`, guardian.JobDispatch), 0)
	require.NoError(t, err)
	require.Zero(t, w.leasesOf(job.ID, one))
	require.Zero(t, w.leasesOf(job.ID, one))
	decided = w.decided(guardian.JobDispatch)
	require.Len(t, decided, 2, "that it was refused is recorded once")
	require.Equal(t, "deny", decided[0]["decision"])
	require.NotZero(t, w.leasesOf(job.ID, w.agent(honest)))
}

// TestWithoutARecordNothingHappens cuts the connection at each statement of a guarded operation: it has happened where its record is there.
func TestWithoutARecordNothingHappens(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := func() int64 { return w.count("select count(*) from rules") }
	records := func() int { return len(w.decided(guardian.RuleChange)) }
	w.cutOff(uuid.Nil, func() error {
		_, _, err := w.CreateRule(context.WithoutCancel(t.Context()), w.by, w.project, planner.Rule{Name: "next", When: "true", Then: planner.Then{Function: "numbers", Partition: "{}"}}, functions.Idempotency{Key: "k"})
		require.Equal(t, made(), int64(records()), "the operation and its record are one")
		return err
	})
	require.Equal(t, 1, records())
}
