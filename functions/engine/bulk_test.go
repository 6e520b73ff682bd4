package engine_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/bulk"
	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/functions/review"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/guardian"
)

// addFlags makes open flags that are about nothing but themselves.
func (w *world) addFlags(kind string, n int) {
	w.t.Helper()
	require.NoError(w.t, w.store.Project(w.t.Context(), w.project, func(tx *store.Tx) error {
		_, err := tx.Exec(w.t.Context(), `insert into flags (id, kind, rule, scope, item)
select gen_random_uuid(), $1, 'votes', 'project', 'made-' || (select count(*) from flags) + i from generate_series(1, $2::integer) i`, kind, n)
		return err
	}))
}

// operator is somebody who has a key of operators.
func (w *world) operator() functions.Principal {
	w.t.Helper()
	_, secret, err := w.CreateOperatorKey(w.t.Context(), "root", nil)
	require.NoError(w.t, err)
	operator, err := w.Authenticate(w.t.Context(), secret)
	require.NoError(w.t, err)
	return operator
}

func dismissal(f bulk.BulkFilter) bulk.Start {
	return bulk.Start{Subject: bulk.BulkFlags, Action: "dismiss", Filter: f, All: f.Empty(), Reason: "noise"}
}

func (w *world) startBulk(s bulk.Start) bulk.BulkActionDetail {
	w.t.Helper()
	d, _, err := w.StartBulkAction(w.t.Context(), w.by, w.project, s, functions.Idempotency{})
	require.NoError(w.t, err)
	return d
}

func (w *world) bulk(id uuid.UUID) bulk.BulkActionDetail {
	w.t.Helper()
	d, err := w.GetBulkAction(w.t.Context(), w.project, id)
	require.NoError(w.t, err)
	require.Equal(w.t, d.Total, d.Done+d.Failed+d.Left)
	return d
}

// TestFlagsThatAreAlikeAreDecidedAlike: each is decided and recorded as if it were alone, and what has changed meanwhile fails alone.
func TestFlagsThatAreAlikeAreDecidedAlike(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addFlags("mismatch", 120)
	w.addFlags("limit", 3)
	list, err := w.ListFlags(t.Context(), w.project, review.FlagFilter{Kind: "mismatch", State: review.FlagOpen}, functions.ListPage{Limit: 500})
	require.NoError(t, err)
	start := dismissal(bulk.BulkFilter{Like: &list[7].ID})
	plan, err := w.PlanBulkAction(t.Context(), w.project, start)
	require.NoError(t, err)
	require.EqualValues(t, 120, plan.Total)
	require.Len(t, plan.First, bulk.ShownFailures)

	idem := functions.Idempotency{Key: "once"}
	d, replayed, err := w.StartBulkAction(t.Context(), w.by, w.project, start, idem)
	require.NoError(t, err)
	require.False(t, replayed)
	require.Equal(t, bulk.BulkRunning, d.State)
	require.EqualValues(t, 120, d.Left)
	require.Equal(t, "mismatch", d.Filter.Kind, "it says what is alike")
	again, replayed, err := w.StartBulkAction(t.Context(), w.by, w.project, start, idem)
	require.NoError(t, err)
	require.True(t, replayed)
	require.Equal(t, d.ID, again.ID)

	_, err = w.ResolveFlag(t.Context(), w.by, w.project, list[3].ID, 1, review.FlagResolution{Decision: "dismiss", Reason: "another reason"})
	require.NoError(t, err)
	w.addFlags("mismatch", 1)
	w.settleAll()
	d = w.bulk(d.ID)
	require.Equal(t, bulk.BulkFinished, d.State)
	require.NotNil(t, d.EndedAt)
	require.EqualValues(t, 119, d.Done)
	require.Equal(t, []bulk.BulkFailure{{Item: list[3].ID, Code: "revision_changed", Message: d.Failures[0].Message}}, d.Failures)
	require.Empty(t, d.Undo, "no decision about a flag is taken back")
	require.EqualValues(t, 4, w.count("select count(*) from flags where resolved_at is null"), "those of another kind, and the one that came later")
	require.EqualValues(t, 120, w.count("select count(*) from audit where action = 'flag.resolve' and actor = $1", w.by.Actor()))
	require.EqualValues(t, 119, w.count("select count(*) from audit where action = 'flag.resolve' and detail ->> 'reason' = 'noise'"))
	require.EqualValues(t, 1, w.count("select count(*) from audit where action = 'bulk.start' and (detail ->> 'items')::int = 120"))
	require.EqualValues(t, 120, w.count("select count(*) from audit where action = 'guardian.decide' and detail ->> 'operation' = 'flag.resolve'"), "the guardian was asked about each")
	_, err = w.PlanBulkAction(t.Context(), w.project, dismissal(bulk.BulkFilter{Kind: "contradiction"}))
	requireCode(t, err, "nothing_matches")
	newest, err := w.ListBulkActions(t.Context(), w.project, functions.ListPage{Limit: 10})
	require.NoError(t, err)
	require.Equal(t, []bulk.BulkAction{d.BulkAction}, newest)
}

// TestABulkActionMayBeCutOffAnywhere: no item is done twice, and none is forgotten.
func TestABulkActionMayBeCutOffAnywhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addFlags("mismatch", 4)
	var d bulk.BulkActionDetail
	w.cutOff(uuid.Nil, func() (err error) {
		d, _, err = w.StartBulkAction(t.Context(), w.by, w.project, dismissal(bulk.BulkFilter{}), functions.Idempotency{Key: "once"})
		return err
	})
	cuts := 0
	w.drain(func(s waiting) {
		cuts += w.cutOff(uuid.Nil, func() error { return w.step(s) })
		require.NoError(t, w.step(s), "and once more")
	})
	require.Greater(t, cuts, 20)
	d = w.bulk(d.ID)
	require.Equal(t, bulk.BulkFinished, d.State)
	require.EqualValues(t, 4, d.Done)
	require.EqualValues(t, 4, w.count("select count(*) from audit where action = 'flag.resolve'"))
	require.EqualValues(t, 1, w.count("select count(*) from audit where action = 'bulk.start'"))
}

// TestTheGuardianDecidesAboutEach: a rule that refuses items makes them fail, and they are done when it is gone.
func TestTheGuardianDecidesAboutEach(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	w.addFlags("mismatch", 3)
	w.guard(guardRule("quiet", guardian.Deny, "", guardian.FlagResolve))
	d := w.startBulk(dismissal(bulk.BulkFilter{}))
	w.settleAll()
	d = w.bulk(d.ID)
	require.EqualValues(t, 3, d.Failed)
	require.Equal(t, "denied_by_guardian", d.Failures[0].Code)
	require.NoError(t, w.DeleteGuardianRule(ctx, w.by, w.project, "quiet", 1))
	again, err := w.RetryBulkAction(ctx, w.by, w.project, d.ID)
	require.NoError(t, err)
	require.Equal(t, bulk.BulkRunning, again.State)
	require.EqualValues(t, 3, again.Left)
	w.settleAll()
	require.EqualValues(t, 3, w.bulk(d.ID).Done)
	_, err = w.RetryBulkAction(ctx, w.by, w.project, d.ID)
	requireCode(t, err, "nothing_left")

	w.addFlags("limit", 1)
	w.guard(guardRule("one-by-one", guardian.Deny, "", guardian.BulkStart))
	recorded := w.denials(guardian.BulkStart)
	_, _, err = w.StartBulkAction(ctx, w.by, w.project, dismissal(bulk.BulkFilter{}), functions.Idempotency{})
	requireCode(t, err, "denied_by_guardian")
	_, err = w.RetryBulkAction(ctx, w.by, w.project, d.ID)
	requireCode(t, err, "denied_by_guardian")
	require.Equal(t, recorded+2, w.denials(guardian.BulkStart))
	require.EqualValues(t, 1, w.count("select count(*) from audit where action = 'bulk.start'"))
	_, err = w.CancelBulkAction(ctx, w.by, w.project, d.ID)
	require.NoError(t, err, "what has ended may be cancelled; nothing happens")
	require.Equal(t, bulk.BulkFinished, w.bulk(d.ID).State)
}

// TestABulkActionStops when somebody cancels it, and when the key is revoked with which it was begun.
func TestABulkActionStops(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	w.addFlags("mismatch", 2)
	d := w.startBulk(dismissal(bulk.BulkFilter{}))
	_, err := w.CancelBulkAction(ctx, w.by, w.project, d.ID)
	require.NoError(t, err)
	w.settleAll()
	d = w.bulk(d.ID)
	require.Equal(t, bulk.BulkCancelled, d.State)
	require.Contains(t, d.Detail, w.by.Actor())
	require.EqualValues(t, 2, d.Left)

	key, secret, _, err := w.CreateKey(ctx, w.by, w.project, "other", functions.RoleOwner, nil, functions.Idempotency{})
	require.NoError(t, err)
	other, err := w.Authenticate(ctx, secret)
	require.NoError(t, err)
	retried, err := w.RetryBulkAction(ctx, other, w.project, d.ID)
	require.NoError(t, err)
	require.Equal(t, bulk.BulkRunning, retried.State)
	require.NoError(t, w.RevokeKey(ctx, w.by, w.project, key.ID))
	w.settleAll()
	d = w.bulk(d.ID)
	require.Equal(t, bulk.BulkCancelled, d.State)
	require.Contains(t, d.Detail, "key")
	require.EqualValues(t, 2, w.count("select count(*) from flags where resolved_at is null"))
	_, err = w.RetryBulkAction(ctx, w.by, w.project, d.ID)
	require.NoError(t, err)
	w.settleAll()
	require.EqualValues(t, 2, w.bulk(d.ID).Done)
}

func TestJobsAreCancelledAndDeletedInBulk(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var jobs []uuid.UUID
	for range 3 {
		jobs = append(jobs, w.submit(3).ID)
	}
	act := func(action string, f bulk.BulkFilter) bulk.BulkActionDetail {
		return w.startBulk(bulk.Start{Subject: bulk.BulkJobs, Action: action, Filter: f, Reason: "tidy"})
	}
	d := act("cancel", bulk.BulkFilter{IDs: jobs[:2]})
	w.settleAll()
	require.EqualValues(t, 2, w.bulk(d.ID).Done)
	require.Equal(t, functions.JobCancelled, w.job(jobs[1]).State)
	require.False(t, w.job(jobs[2]).State.Ended())
	d = act("delete", bulk.BulkFilter{Function: "numbers"})
	require.EqualValues(t, 2, d.Total, "the one that goes on is not among them")
	w.settleAll()
	require.EqualValues(t, 2, w.bulk(d.ID).Done)
	require.EqualValues(t, 1, w.count("select count(*) from jobs"))
	_, err := w.PlanBulkAction(t.Context(), w.project, bulk.Start{Subject: bulk.BulkJobs, Action: "archive", All: true, Reason: "r"})
	requireCode(t, err, "nothing_matches")
}

// TestABulkActionAboutAgentsIsTakenBack in a project, and by operators in the whole installation.
func TestABulkActionAboutAgentsIsTakenBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	agents := []*agent{w.agent(honest), w.agent(honest), w.sibling(honest)}
	d := w.startBulk(bulk.Start{Subject: bulk.BulkAgents, Action: "exclude", Filter: bulk.BulkFilter{IDs: []uuid.UUID{agents[0].id, agents[1].id}}, Reason: "loud"})
	w.settleAll()
	d = w.bulk(d.ID)
	require.EqualValues(t, 2, d.Done)
	require.Equal(t, "admit", d.Undo)
	excluded := func(a *agent) bool {
		p, err := w.GetProjectAgent(ctx, w.project, a.id)
		require.NoError(t, err)
		return p.Excluded
	}
	require.True(t, excluded(agents[0]))
	require.False(t, excluded(agents[2]))
	undo, _, err := w.UndoBulkAction(ctx, w.by, w.project, d.ID, "quiet again", functions.Idempotency{})
	require.NoError(t, err)
	require.Equal(t, d.ID, *undo.Undoes)
	w.settleAll()
	require.EqualValues(t, 2, w.bulk(undo.ID).Done)
	require.False(t, excluded(agents[0]))

	w.exec("insert into trust (agent_id, caught_at) values ($1, now()) on conflict (agent_id) do update set caught_at = now()", agents[1].id)
	d = w.startBulk(bulk.Start{Subject: bulk.BulkAgents, Action: "exclude", Filter: bulk.BulkFilter{IDs: []uuid.UUID{agents[1].id}}, Reason: "all of them"})
	w.settleAll()
	require.True(t, excluded(agents[1]))
	undo, _, err = w.UndoBulkAction(ctx, w.by, w.project, d.ID, "not this one", functions.Idempotency{})
	require.NoError(t, err)
	w.settleAll()
	require.EqualValues(t, 1, w.bulk(undo.ID).Done, "%+v", w.bulk(undo.ID))
	require.False(t, excluded(agents[1]))
	require.NotNil(t, agents[1].member().CaughtAt, "it is what it was")
	_, err = w.AdmitAgent(ctx, w.by, w.project, agents[1].id, "", "r")
	requireCode(t, err, "agent_caught")

	operator := w.operator()
	drain := bulk.Start{Subject: bulk.BulkAgents, Action: "drain", Filter: bulk.BulkFilter{Owner: "owner-1"}, Reason: "update"}
	all, _, err := w.StartBulkAction(ctx, operator, uuid.Nil, drain, functions.Idempotency{})
	require.NoError(t, err)
	w.settleAll()
	a, err := w.GetAgent(ctx, agents[0].id)
	require.NoError(t, err)
	require.Equal(t, fleet.AgentDraining, a.State)
	_, err = w.GetBulkAction(ctx, w.project, all.ID)
	requireCode(t, err, "not_found")
	_, err = w.GetBulkAction(ctx, uuid.Nil, d.ID)
	requireCode(t, err, "not_found")
	var audited int
	require.NoError(t, w.store.Pool.QueryRow(ctx, "select count(*) from ostraka.server_audit where action = 'bulk.start' and subject = $1", all.ID.String()).Scan(&audited))
	require.Equal(t, 1, audited)
	back, _, err := w.UndoBulkAction(ctx, operator, uuid.Nil, all.ID, "updated", functions.Idempotency{})
	require.NoError(t, err)
	w.settleAll()
	got, err := w.GetBulkAction(ctx, uuid.Nil, back.ID)
	require.NoError(t, err)
	require.EqualValues(t, 1, got.Done, "%v", got.Failures)
	a, err = w.GetAgent(ctx, agents[0].id)
	require.NoError(t, err)
	require.Equal(t, fleet.AgentActive, a.State)
}

func TestBulkActionsHaveLimits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	w.addFlags("mismatch", bulk.MaxItems)
	for _, bad := range []struct {
		start bulk.Start
		code  string
	}{
		{bulk.Start{Subject: "cats", Action: "dismiss", Reason: "r"}, "bad_bulk_action"},
		{bulk.Start{Subject: bulk.BulkFlags, Action: "accept", Reason: "r"}, "bad_bulk_action"},
		{bulk.Start{Subject: bulk.BulkJobs, Action: "cancel", Filter: bulk.BulkFilter{Kind: "x"}, Reason: "r"}, "bad_bulk_action"},
		{bulk.Start{Subject: bulk.BulkFlags, Action: "dismiss", Filter: bulk.BulkFilter{Owner: "x"}, Reason: "r"}, "bad_bulk_action"},
		{bulk.Start{Subject: bulk.BulkFlags, Action: "dismiss", All: true}, "bad_reason"},
		{bulk.Start{Subject: bulk.BulkFlags, Action: "dismiss", Reason: "r"}, "bad_bulk_action"},
		{bulk.Start{Subject: bulk.BulkJobs, Action: "delete", Filter: bulk.BulkFilter{IDs: []uuid.UUID{}}, Reason: "r"}, "bad_bulk_action"},
		{bulk.Start{Subject: bulk.BulkJobs, Action: "delete", Filter: bulk.BulkFilter{Function: "numbers"}, All: true, Reason: "r"}, "bad_bulk_action"},
		{dismissal(bulk.BulkFilter{IDs: slices.Repeat([]uuid.UUID{uuid.New()}, bulk.MaxIDs+1)}), "bad_bulk_action"},
		{dismissal(bulk.BulkFilter{IDs: slices.Repeat([]uuid.UUID{uuid.New()}, bulk.MaxIDs)}), "nothing_matches"},
		{dismissal(bulk.BulkFilter{Like: new(uuid.New())}), "not_found"},
	} {
		_, err := w.PlanBulkAction(ctx, w.project, bad.start)
		requireCode(t, err, bad.code)
	}
	plan, err := w.PlanBulkAction(ctx, w.project, dismissal(bulk.BulkFilter{}))
	require.NoError(t, err)
	require.EqualValues(t, bulk.MaxItems, plan.Total)
	first := w.startBulk(dismissal(bulk.BulkFilter{}))
	require.EqualValues(t, bulk.MaxItems, first.Total)
	w.addFlags("limit", 1)
	_, err = w.PlanBulkAction(ctx, w.project, dismissal(bulk.BulkFilter{}))
	requireCode(t, err, "too_many_items")
	for i := 1; i < bulk.MaxRunning; i++ {
		w.startBulk(dismissal(bulk.BulkFilter{Kind: "limit"}))
	}
	one := dismissal(bulk.BulkFilter{Kind: "limit"})
	_, _, err = w.StartBulkAction(ctx, w.by, w.project, one, functions.Idempotency{})
	requireCode(t, err, "too_many_bulk_actions")
	_, err = w.CancelBulkAction(ctx, w.by, w.project, first.ID)
	require.NoError(t, err)
	w.startBulk(one)
}

// TestOldBulkActionsAreForgotten with their items; those that go on are not.
func TestOldBulkActionsAreForgotten(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addFlags("mismatch", 1)
	old := w.startBulk(dismissal(bulk.BulkFilter{}))
	w.settleAll()
	w.addFlags("limit", 1)
	going := w.startBulk(dismissal(bulk.BulkFilter{}))
	_, err := w.store.Pool.Exec(t.Context(), fmt.Sprintf("update ostraka.bulk_actions set ended_at = now() - interval '%d seconds', created_at = now() - interval '1 year'", int(bulk.KeptFor.Seconds())+60))
	require.NoError(t, err)
	_, err = w.store.Pool.Exec(t.Context(), "update ostraka.bulk_actions set ended_at = null where state = 'running'")
	require.NoError(t, err)
	require.NoError(t, w.Retain(t.Context(), stepargs.RetentionArgs{}))
	_, err = w.GetBulkAction(t.Context(), w.project, old.ID)
	requireCode(t, err, "not_found")
	require.Equal(t, bulk.BulkRunning, w.bulk(going.ID).State)
}
