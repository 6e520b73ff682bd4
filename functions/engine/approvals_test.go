package engine_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/functions/policy"
	"github.com/ostraka/ostraka/guardian"
)

func TestAJobWaitsForAnApproval(t *testing.T) {
	t.Parallel()
	clock := &watch{}
	w := newWorld(t, guarded(clock))
	ctx := t.Context()
	one := w.agent(honest)
	w.guard(guardRule("large", guardian.Ask, "job.shards > 2", guardian.JobSubmit))
	require.Nil(t, w.submit(2).Approval, "at the limit nothing is asked")
	_, err := w.CancelJob(ctx, w.by, w.project, w.submit(1).ID)
	require.NoError(t, err)

	job := w.submit(3)
	require.NotNil(t, job.Approval)
	e, err := w.Explain(ctx, w.project, job.ID)
	require.NoError(t, err)
	require.Equal(t, "approval_needed", e.Reasons[0].Code)
	require.Contains(t, e.Reasons[0].Text, "an owner or a reviewer of the project")
	require.Contains(t, e.Reasons[0].Hint, "ostraka approval approve "+job.Approval.ID.String())
	w.settleAll()
	require.Zero(t, w.leasesOf(job.ID, one), "nothing of it is lent")

	require.NoError(t, w.SetFourEyes(ctx, w.by, w.project, true))
	_, err = w.DecideApproval(ctx, w.by, w.project, job.Approval.ID, true, "fine")
	requireCode(t, err, "four_eyes")
	reviewer := functions.Principal{KeyID: uuid.New(), Role: functions.RoleReviewer, Project: w.project}
	a, err := w.DecideApproval(ctx, reviewer, w.project, job.Approval.ID, true, "fine")
	require.NoError(t, err)
	require.Equal(t, policy.ApprovalApproved, a.State)
	_, err = w.DecideApproval(ctx, reviewer, w.project, job.Approval.ID, true, "fine")
	require.NoError(t, err, "saying it again is harmless")
	_, err = w.DecideApproval(ctx, reviewer, w.project, job.Approval.ID, false, "not fine")
	requireCode(t, err, "approval_decided")
	require.Nil(t, w.job(job.ID).Approval)
	require.NotZero(t, w.leasesOf(job.ID, one))

	refused := w.submit(3)
	_, err = w.DecideApproval(ctx, reviewer, w.project, refused.Approval.ID, false, "too large")
	require.NoError(t, err)
	require.Equal(t, functions.JobCancelled, w.job(refused.ID).State)
	require.Contains(t, w.job(refused.ID).Error, "too large")

	late := w.submit(3)
	clock.step(policy.ApprovalLife - time.Minute)
	require.NoError(t, w.ExpireApprovals(ctx))
	require.False(t, w.job(late.ID).State.Ended())
	clock.step(2 * time.Minute)
	require.NoError(t, w.ExpireApprovals(ctx))
	require.Equal(t, functions.JobCancelled, w.job(late.ID).State)
	_, err = w.DecideApproval(ctx, reviewer, w.project, late.Approval.ID, true, "now")
	requireCode(t, err, "approval_decided")
	require.Equal(t, functions.Role("reviewer"), reviewer.Role)
}

func TestWhatNeedsAnApprovalPassesOnce(t *testing.T) {
	t.Parallel()
	clock := &watch{}
	w := newWorld(t, guarded(clock))
	ctx := t.Context()
	w.guard(guardRule("keys", guardian.Ask, `key.role == "owner"`, guardian.KeyCreate))
	create := func() error {
		_, _, _, err := w.CreateKey(ctx, w.by, w.project, "second", functions.RoleOwner, nil, functions.Idempotency{})
		return err
	}
	before := w.counts()
	requireCode(t, create(), "approval_needed")
	requireCode(t, create(), "approval_needed")
	list, err := w.ListApprovals(ctx, w.project, policy.ApprovalWaiting, functions.ListPage{Limit: 10})
	require.NoError(t, err)
	require.Len(t, list, 1, "the same is asked once")
	require.ErrorContains(t, create(), list[0].ID.String())
	_, err = w.DecideApproval(ctx, w.by, w.project, list[0].ID, true, "fine")
	require.NoError(t, err)
	require.NoError(t, create())
	requireCode(t, create(), "approval_needed")
	after := w.counts()
	require.Equal(t, before[9]+1, after[9], "one key was made")
	require.Equal(t, []any{"ask", "allow", "ask"}, []any{w.decided(guardian.KeyCreate)[0]["decision"], w.decided(guardian.KeyCreate)[1]["decision"], w.decided(guardian.KeyCreate)[2]["decision"]})

	// What an operator's rule asks is not for the project to answer.
	_, err = w.SetGuardianRule(ctx, w.server, uuid.Nil, guardRule("tokens", guardian.Ask, "", guardian.TokenCreate), 0)
	require.NoError(t, err)
	_, _, _, err = w.CreateEnrolmentToken(ctx, w.by, w.project, fleet.NewEnrolmentToken{Name: "t"}, functions.Idempotency{})
	requireCode(t, err, "approval_needed")
	list, err = w.ListApprovals(ctx, w.project, policy.ApprovalWaiting, functions.ListPage{Limit: 10})
	require.NoError(t, err)
	token := list[len(list)-1]
	_, err = w.DecideApproval(ctx, w.by, w.project, token.ID, true, "fine")
	requireCode(t, err, "approval_not_yours")
	other, by := w.newProject("other")
	_, err = w.GetApproval(ctx, other, token.ID)
	requireCode(t, err, "not_found")
	_, err = w.DecideApproval(ctx, by, other, token.ID, true, "fine")
	requireCode(t, err, "not_found")
	_, err = w.DecideApproval(ctx, w.server, w.project, token.ID, true, "fine")
	require.NoError(t, err)
	_, _, _, err = w.CreateEnrolmentToken(ctx, w.by, w.project, fleet.NewEnrolmentToken{Name: "t"}, functions.Idempotency{})
	require.NoError(t, err)
}
