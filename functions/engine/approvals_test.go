package engine_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/dispatch"
	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/functions/policy"
	"github.com/ostraka/ostraka/functions/review"
	"github.com/ostraka/ostraka/guardian"
)

func TestEachRuleWantsItsOwnYes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	mine := w.guard(guardRule("mine", guardian.Ask, "", guardian.KeyCreate))
	create := func() error {
		_, _, _, err := w.CreateKey(ctx, w.by, w.project, "k", functions.RoleOwner, &functions.Expiry{Seconds: 3600}, functions.Idempotency{})
		return err
	}
	requireCode(t, create(), "approval_needed")
	w.approve(w.by, w.waiting()[0])

	// A rule that comes later, with a layer of its own, has no yes yet.
	_, err := w.SetGuardianRule(ctx, w.server, uuid.Nil, guardRule("theirs", guardian.Ask, "", guardian.KeyCreate), 0)
	require.NoError(t, err)
	requireCode(t, create(), "approval_needed")
	list := w.waiting()
	require.Len(t, list, 1, "what has its yes is not asked again")
	require.Equal(t, []string{"theirs", "operator"}, []string{list[0].Rule, list[0].Layer})
	require.JSONEq(t, `{"expires_in_seconds": 3600}`, string(list[0].Asked))
	_, err = w.DecideApproval(ctx, w.by, w.project, list[0].ID, true, "fine")
	requireCode(t, err, "approval_not_yours")
	w.approve(w.server, list[0])

	// A rule that was changed asks again, whatever was said to its version of before.
	mine.Reason = "another reason"
	_, err = w.SetGuardianRule(ctx, w.by, w.project, mine.Rule, 1)
	require.NoError(t, err)
	err = create()
	requireCode(t, err, "approval_needed")
	require.ErrorContains(t, err, "another reason")
	require.NotContains(t, err.Error(), "because theirs")
	w.approve(w.by, w.waiting()[0])
	require.NoError(t, create())
	require.Len(t, w.decided(guardian.KeyCreate)[0]["approvals"], 2)
	err = create()
	requireCode(t, err, "approval_needed")
	require.ErrorContains(t, err, "because theirs", "both were used")
	require.ErrorContains(t, err, "another reason")
	require.Len(t, w.waiting(), 2)
}

func TestAJobWaitsForTheYesOfEachRule(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	one := w.agent(honest)
	w.guard(guardRule("mine", guardian.Ask, "", guardian.JobSubmit))
	_, err := w.SetGuardianRule(ctx, w.server, uuid.Nil, guardRule("theirs", guardian.Ask, "", guardian.JobSubmit), 0)
	require.NoError(t, err)
	job := w.submit(2)
	w.settleAll()
	list := w.waiting()
	require.Len(t, list, 2)
	require.Equal(t, list[0].ID, job.Approval.ID, "it waits for one after the other")
	w.approve(w.server, list[1])
	require.Zero(t, w.leasesOf(job.ID, one), "one yes is not enough")
	require.Equal(t, list[0].ID, w.job(job.ID).Approval.ID)
	w.approve(w.server, list[0])
	require.Nil(t, w.job(job.ID).Approval)
	require.NotZero(t, w.leasesOf(job.ID, one))

	refused := w.submit(2)
	list = w.waiting()
	w.approve(w.server, list[0])
	require.Equal(t, list[1].ID, w.job(refused.ID).Approval.ID)
	_, err = w.DecideApproval(ctx, w.server, w.project, list[1].ID, false, "too large")
	require.NoError(t, err)
	require.Equal(t, functions.JobCancelled, w.job(refused.ID).State)
}

// TestStatusShowsWhatIsInForce holds that exceptions that have ended, however many, hide none that are in force.
func TestStatusShowsWhatIsInForce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.guard(guardRule("mine", guardian.Allow, ""))
	w.sql("insert into "+w.schema()+`.guardian_overrides (id, rule, reason, created_by, until)
		select lpad(n::text, 32, '0')::uuid, 'mine', 'x', 'somebody', now() - interval '1 hour' from generate_series(1, $1) n`, functions.MaxListLimit+1)
	o, _, err := w.AddOverride(t.Context(), w.by, w.project, policy.NewOverride{Rule: "mine", Reason: "today", For: time.Hour}, functions.Idempotency{})
	require.NoError(t, err)
	st, err := w.GuardianStatus(t.Context(), w.project)
	require.NoError(t, err)
	require.Len(t, st.Overrides, 1)
	require.Equal(t, o.ID, st.Overrides[0].ID)
}

// TestFourEyesAreThoseOfWhoSubmitted holds that nobody approves what a rule asks about their own job, whatever asks for it.
func TestFourEyesAreThoseOfWhoSubmitted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	reviewer := functions.Principal{KeyID: uuid.New(), Role: functions.RoleReviewer, Project: w.project}
	require.NoError(t, w.SetFourEyes(ctx, w.by, w.project, true))
	w.guard(guardRule("lent", guardian.Ask, "", guardian.JobDispatch))
	one := w.agent(honest)
	job := w.submit(1, func(n *functions.NewJob) { n.Quorum, n.Aggregator = 1, "sum" })
	w.settleAll()
	require.Zero(t, w.leasesOf(job.ID, one))
	require.Nil(t, w.job(job.ID).Approval, "what is asked about a lease is nothing that the job waits for")
	lease := w.waiting()[0]
	require.Equal(t, w.by.Actor(), lease.RequestedBy)
	_, err := w.DecideApproval(ctx, w.by, w.project, lease.ID, true, "mine")
	requireCode(t, err, "four_eyes")
	w.approve(reviewer, lease)

	// A follow-up is wanted by who submitted the first job of its chain. The yes to a lease is none to it, though the rule has the same name.
	w.guard(guardRule("next", guardian.Ask, "", guardian.JobFollowUp))
	w.rule("next")
	require.Equal(t, 1, one.do(1))
	w.settleAll()
	require.Equal(t, functions.JobFinished, w.job(job.ID).State)
	require.Len(t, w.waiting(), 1)
	next := w.waiting()[0]
	require.Equal(t, "job.follow_up", next.Operation)
	require.Equal(t, w.by.Actor(), next.RequestedBy)
	_, err = w.DecideApproval(ctx, w.by, w.project, next.ID, true, "mine")
	requireCode(t, err, "four_eyes")
	w.approve(reviewer, next)
	require.Nil(t, w.job(*next.Job).Approval)
}

func TestFourEyesAreNotSwitchedOffAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	on := func() bool {
		st, err := w.GuardianStatus(ctx, w.project)
		require.NoError(t, err)
		return st.FourEyes
	}
	off := func(by functions.Principal) error { return w.SetFourEyes(ctx, by, w.project, false) }
	require.NoError(t, off(w.by), "they are off")
	require.NoError(t, w.SetFourEyes(ctx, w.by, w.project, true))
	requireCode(t, off(w.by), "approval_needed")
	_, err := w.DecideApproval(ctx, w.by, w.project, w.waiting()[0].ID, true, "mine")
	requireCode(t, err, "four_eyes")
	requireCode(t, off(w.server), "approval_needed")
	require.True(t, on())
	require.Len(t, w.waiting(), 2, "each asks for themselves")
	w.approve(w.server, w.waiting()[0])
	require.NoError(t, off(w.by))
	require.False(t, on())
	require.NoError(t, off(w.server), "they are off")

	// So it is for the installation.
	require.NoError(t, w.SetFourEyes(ctx, w.server, uuid.Nil, true))
	requireCode(t, w.SetFourEyes(ctx, w.server, uuid.Nil, false), "approval_needed")
	list, err := w.ListApprovals(ctx, uuid.Nil, policy.ApprovalWaiting, functions.ListPage{Limit: 10})
	require.NoError(t, err)
	_, err = w.DecideApproval(ctx, w.server, uuid.Nil, list[0].ID, true, "mine")
	requireCode(t, err, "four_eyes")
	other := functions.Principal{KeyID: uuid.New(), Role: functions.RoleOperator}
	_, err = w.DecideApproval(ctx, other, uuid.Nil, list[0].ID, true, "fine")
	require.NoError(t, err)
	require.NoError(t, w.SetFourEyes(ctx, w.server, uuid.Nil, false))
}

// TestARefusalIsRecordedWhateverWaits fills the list of approvals: what would be one more is refused, and that is recorded.
func TestARefusalIsRecordedWhateverWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	job, one := w.submit(1), w.agent(honest)
	w.settleAll()
	w.guard(guardRule("ask", guardian.Ask, "", guardian.KeyCreate, guardian.JobSubmit, guardian.JobDispatch))
	w.sql("insert into "+w.schema()+`.guardian_approvals (id, kind, subject, digest, facts, layer, rule, rule_version, risk, reason, requested_by, expires_at)
		select gen_random_uuid(), 'key.create', '', sha256(n::text::bytea), '{}', 'project', 'ask', 1, 'LOW', 'x', 'somebody', now() + interval '1 day'
		from generate_series(1, $1) n`, policy.MaxWaiting-1)
	create := func(name string) error {
		_, _, _, err := w.CreateKey(ctx, w.by, w.project, name, functions.RoleViewer, nil, functions.Idempotency{})
		return err
	}
	submit := func() error {
		_, _, err := w.SubmitJob(ctx, w.by, w.project, functions.NewJob{Function: "numbers", Partition: rangeOf(1), Quorum: 1}, functions.Idempotency{})
		return err
	}
	requireCode(t, create("at the limit"), "approval_needed")
	jobs := w.count("select count(*) from jobs")
	for _, c := range []struct {
		kind guardian.Kind
		call func() error
	}{{guardian.KeyCreate, func() error { return create("one more") }}, {guardian.JobSubmit, submit}} {
		before := len(w.decided(c.kind))
		requireCode(t, c.call(), "too_many_approvals")
		list := w.decided(c.kind)
		require.Len(t, list, before+1, c.kind)
		require.Equal(t, "ask", list[0]["decision"])
		require.Equal(t, "ask", list[0]["rule"])
		require.NotZero(t, list[0]["policy"].(map[string]any)["project"], "by which rules")
	}
	require.Equal(t, jobs, w.count("select count(*) from jobs"))

	lease, err := w.Lease(ctx, one.id, dispatch.Poll{Most: 1}, functions.Idempotency{})
	require.NoError(t, err, "an agent goes on with what it may be lent")
	require.Nil(t, lease)
	require.Len(t, w.decided(guardian.JobDispatch), 1)
	require.Equal(t, job.ID.String(), w.decided(guardian.JobDispatch)[0]["job"])
	require.EqualValues(t, policy.MaxWaiting, w.count("select count(*) from guardian_approvals where state = 'waiting'"))
}

// TestRulesKnowTheFunction holds that a rule can name the function wherever one is decided about, and that records are found by it.
func TestRulesKnowTheFunction(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	w.pushFunction("others", "")
	job := w.submit(2)
	other := w.submit(2, func(n *functions.NewJob) { n.Function = "others" })
	w.settleAll()
	w.guard(guardRule("decided", guardian.Deny, `decision.function == "numbers"`, guardian.FunctionReview, guardian.ShardResolve))
	w.guard(guardRule("jobs", guardian.Deny, `code.name == "numbers" && job.shards == 2 && job.verification.quorum == 2`, guardian.JobPrioritise, guardian.JobAggregate))
	for name, call := range map[string]func(function string, job uuid.UUID) error{
		"review": func(function string, _ uuid.UUID) error {
			_, err := w.ReviewCode(ctx, w.by, w.project, function, 1, "allow", "x")
			return err
		},
		"shard": func(_ string, job uuid.UUID) error {
			_, err := w.ResolveShard(ctx, w.by, w.project, job, 0, review.Resolution{Decision: review.ResolveRetry, Reason: "x"})
			return err
		},
		"priority": func(_ string, job uuid.UUID) error { _, err := w.SetPriority(ctx, w.by, w.project, job, 6); return err },
	} {
		requireCode(t, call("numbers", job.ID), "denied_by_guardian")
		if err := call("others", other.ID); err != nil {
			require.NotContains(t, err.Error(), "guardian", name)
		}
	}
	require.Equal(t, "numbers", w.decided(guardian.ShardResolve)[len(w.decided(guardian.ShardResolve))-1]["function"])
	_, err := w.CancelJob(ctx, w.by, w.project, job.ID)
	require.NoError(t, err)
	require.Equal(t, "numbers", w.decided(guardian.JobCancel)[0]["function"])
}

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
	const keys = "select count(*) from api_keys"
	before := w.controlCount(keys)
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
	require.Equal(t, before+1, w.controlCount(keys), "one key was made")
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
