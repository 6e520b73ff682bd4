package engine_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/bulk"
	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/functions/review"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/guardian"
)

// doersBetween are the rooms, with something that happens before each decision about a flag.
type doersBetween struct {
	bulk.Doers
	before func(n int)
	n      int
}

func (d *doersBetween) ResolveFlag(ctx context.Context, by functions.Principal, project, id uuid.UUID, revision int64, r review.FlagResolution) (review.FlagDetail, error) {
	d.n++
	d.before(d.n)
	return d.Doers.ResolveFlag(ctx, by, project, id, revision, r)
}

// between makes a room of bulk actions in which something happens before each decision about a flag.
func (w *world) between(before func(n int)) (*bulk.Service, *doersBetween) {
	d := &doersBetween{Doers: w.Service, before: before}
	return bulk.New(&base.Env{Store: w.store}, d), d
}

// TestAStepOfAnEarlierTurnEnds: a bulk action that was cancelled and begun again has one step, and one that still runs settles nothing.
func TestAStepOfAnEarlierTurnEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	w.addFlags("mismatch", 3)
	d := w.startBulk(dismissal(bulk.BulkFilter{}))
	room, doers := w.between(func(n int) {
		require.Equal(t, 1, n, "the step of the first turn goes on")
		_, err := w.CancelBulkAction(ctx, w.by, w.project, d.ID)
		require.NoError(t, err)
		_, err = w.RetryBulkAction(ctx, w.by, w.project, d.ID)
		require.NoError(t, err)
	})
	first := stepargs.BulkArgs{Project: w.project, Bulk: d.ID, Turn: 1}
	require.NoError(t, room.RunBulk(ctx, first))
	require.EqualValues(t, 3, w.bulk(d.ID).Left, "the item belongs to the second turn")
	require.NoError(t, room.RunBulk(ctx, first))
	require.Equal(t, 1, doers.n)
	w.settleAll()
	require.EqualValues(t, 3, w.bulk(d.ID).Done)
	require.EqualValues(t, 3, w.count("select count(*) from audit where action = 'flag.resolve'"))
}

// TestARevokedKeyDoesNothingMore: not even the items that a step has read already.
func TestARevokedKeyDoesNothingMore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	w.addFlags("mismatch", 4)
	key, secret, _, err := w.CreateKey(ctx, w.by, w.project, "other", functions.RoleOwner, nil, functions.Idempotency{})
	require.NoError(t, err)
	other, err := w.Authenticate(ctx, secret)
	require.NoError(t, err)
	d, _, err := w.StartBulkAction(ctx, other, w.project, dismissal(bulk.BulkFilter{}), functions.Idempotency{})
	require.NoError(t, err)
	room, doers := w.between(func(n int) {
		if n == 2 {
			require.NoError(t, w.RevokeKey(ctx, w.by, w.project, key.ID))
		}
	})
	require.NoError(t, room.RunBulk(ctx, stepargs.BulkArgs{Project: w.project, Bulk: d.ID, Turn: 1}))
	require.Equal(t, 2, doers.n)
	d = w.bulk(d.ID)
	require.Equal(t, bulk.BulkCancelled, d.State)
	require.Contains(t, d.Detail, "key")
	require.EqualValues(t, 2, d.Left)
}

// TestWhatIsUnavailableIsTriedAgain: it is the server's fault; but what no server of the installation can do is the item's.
func TestWhatIsUnavailableIsTriedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	w.addFlags("mismatch", 1)
	d := w.startBulk(dismissal(bulk.BulkFilter{}))
	away := &functions.Error{Kind: functions.KindUnavailable, Code: "server_busy", Message: "it is away"}
	args := stepargs.BulkArgs{Project: w.project, Bulk: d.ID, Turn: 1}
	require.ErrorIs(t, bulk.New(&base.Env{Store: w.store}, failing{w.Service, away}).RunBulk(ctx, args), away)
	require.EqualValues(t, 1, w.bulk(d.ID).Left)
	none := &functions.Error{Kind: functions.KindUnavailable, Code: "no_recheck", Message: "none does"}
	require.NoError(t, bulk.New(&base.Env{Store: w.store}, failing{w.Service, none}).RunBulk(ctx, args))
	require.EqualValues(t, 1, w.bulk(d.ID).Failed)
}

// failing are rooms that decide about no flag.
type failing struct {
	bulk.Doers
	err error
}

func (f failing) ResolveFlag(context.Context, functions.Principal, uuid.UUID, uuid.UUID, int64, review.FlagResolution) (review.FlagDetail, error) {
	return review.FlagDetail{}, f.err
}

// TestAnUndoLeavesWhatOthersHaveDecided before the bulk action, meanwhile and since.
func TestAnUndoLeavesWhatOthersHaveDecided(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	operator := w.operator()
	agents := make([]*agent, 4)
	named := bulk.BulkFilter{}
	for i := range agents {
		agents[i] = w.agent(honest)
		named.IDs = append(named.IDs, agents[i].id)
	}
	decide := func(a *agent, action fleet.AgentAction) {
		_, err := w.DecideAgent(ctx, w.server, a.id, action, "mine")
		require.NoError(t, err)
	}
	state := func(a *agent) fleet.AgentState {
		got, err := w.GetAgent(ctx, a.id)
		require.NoError(t, err)
		return got.State
	}
	server := func(action string) bulk.BulkActionDetail {
		d, _, err := w.StartBulkAction(ctx, operator, uuid.Nil, bulk.Start{Subject: bulk.BulkAgents, Action: action, Filter: named, Reason: "loud"}, functions.Idempotency{})
		require.NoError(t, err)
		return d
	}
	decide(agents[0], fleet.DrainAgent) // before it was chosen
	d := server("quarantine")
	decide(agents[1], fleet.DrainAgent) // after it was chosen
	w.settleAll()
	require.Equal(t, fleet.AgentDraining, state(agents[1]))
	d, err := w.GetBulkAction(ctx, uuid.Nil, d.ID)
	require.NoError(t, err)
	require.Equal(t, "revision_changed", d.Failures[0].Code)
	require.EqualValues(t, 3, d.Done)
	decide(agents[2], fleet.ResumeAgent)
	decide(agents[2], fleet.QuarantineAgent) // since
	undo, _, err := w.UndoBulkAction(ctx, operator, uuid.Nil, d.ID, "quiet", functions.Idempotency{})
	require.NoError(t, err)
	require.EqualValues(t, 1, undo.Total)
	w.settleAll()
	require.Equal(t, []fleet.AgentState{fleet.AgentQuarantined, fleet.AgentDraining, fleet.AgentQuarantined, fleet.AgentActive},
		[]fleet.AgentState{state(agents[0]), state(agents[1]), state(agents[2]), state(agents[3])})
	_, _, err = w.UndoBulkAction(ctx, operator, uuid.Nil, d.ID, "quiet", functions.Idempotency{})
	requireCode(t, err, "nothing_matches")

	resumed := server("resume")
	w.settleAll()
	resumed, err = w.GetBulkAction(ctx, uuid.Nil, resumed.ID)
	require.NoError(t, err)
	require.Empty(t, resumed.Undo, "some were drained, others quarantined")
	_, _, err = w.UndoBulkAction(ctx, operator, uuid.Nil, resumed.ID, "r", functions.Idempotency{})
	requireCode(t, err, "cannot_be_undone")
}

// TestABulkActionInAProjectLeavesWhatOthersHaveDecided since its agents were chosen.
func TestABulkActionInAProjectLeavesWhatOthersHaveDecided(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	one, two := w.agent(honest), w.agent(honest)
	named := bulk.BulkFilter{IDs: []uuid.UUID{one.id, two.id}}
	for _, c := range []struct {
		action    string
		meanwhile func() error
		excluded  bool // what was decided meanwhile
	}{
		{"exclude", func() error { _, err := w.AdmitAgent(ctx, w.by, w.project, one.id, "", "mine"); return err }, false},
		{"admit", func() error { _, err := w.ExcludeAgent(ctx, w.by, w.project, two.id, "mine"); return err }, true},
	} {
		if c.action == "admit" {
			_, err := w.ExcludeAgent(ctx, w.by, w.project, one.id, "")
			require.NoError(t, err)
		}
		d := w.startBulk(bulk.Start{Subject: bulk.BulkAgents, Action: c.action, Filter: named, Reason: "loud"})
		require.EqualValues(t, 2, d.Total, c.action)
		require.NoError(t, c.meanwhile())
		w.settleAll()
		d, err := w.GetBulkAction(ctx, w.project, d.ID)
		require.NoError(t, err)
		require.EqualValues(t, 1, d.Done, c.action)
		require.Equal(t, "revision_changed", d.Failures[0].Code)
		a, err := w.GetProjectAgent(ctx, w.project, d.Failures[0].Item)
		require.NoError(t, err)
		require.Equal(t, c.excluded, a.Excluded)
	}
}

// TestABulkActionLeavesWhatOthersHaveDecidedAlike: who decides the same meanwhile, for a reason of their own, has decided, and no undo takes that back.
func TestABulkActionLeavesWhatOthersHaveDecidedAlike(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	one, two := w.agent(honest), w.agent(honest)
	d := w.startBulk(bulk.Start{Subject: bulk.BulkAgents, Action: "exclude", Filter: bulk.BulkFilter{IDs: []uuid.UUID{one.id, two.id}}, Reason: "loud"})
	_, err := w.ExcludeAgent(ctx, w.by, w.project, one.id, "mine")
	require.NoError(t, err)
	w.settleAll()
	d = w.bulk(d.ID)
	require.EqualValues(t, 1, d.Done)
	require.Equal(t, []bulk.BulkFailure{{Item: one.id, Code: "revision_changed", Message: d.Failures[0].Message}}, d.Failures)
	undo, _, err := w.UndoBulkAction(ctx, w.by, w.project, d.ID, "quiet", functions.Idempotency{})
	require.NoError(t, err)
	require.EqualValues(t, 1, undo.Total)
	w.settleAll()
	p, err := w.GetProjectAgent(ctx, w.project, one.id)
	require.NoError(t, err)
	require.True(t, p.Excluded)
	p, err = w.GetProjectAgent(ctx, w.project, two.id)
	require.NoError(t, err)
	require.False(t, p.Excluded)
}

// TestAnUndoInAProjectLeavesWhatOthersHaveDecided since, even for the same reason.
func TestAnUndoInAProjectLeavesWhatOthersHaveDecided(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	one, two := w.agent(honest), w.agent(honest)
	d := w.startBulk(bulk.Start{Subject: bulk.BulkAgents, Action: "exclude", Filter: bulk.BulkFilter{IDs: []uuid.UUID{one.id, two.id}}, Reason: "loud"})
	w.settleAll()
	_, err := w.AdmitAgent(ctx, w.by, w.project, one.id, "", "quiet")
	require.NoError(t, err)
	_, err = w.ExcludeAgent(ctx, w.by, w.project, one.id, "loud")
	require.NoError(t, err)
	undo, _, err := w.UndoBulkAction(ctx, w.by, w.project, d.ID, "quiet", functions.Idempotency{})
	require.NoError(t, err)
	require.EqualValues(t, 1, undo.Total)
	w.settleAll()
	p, err := w.GetProjectAgent(ctx, w.project, one.id)
	require.NoError(t, err)
	require.True(t, p.Excluded)
	p, err = w.GetProjectAgent(ctx, w.project, two.id)
	require.NoError(t, err)
	require.False(t, p.Excluded)
}

// TestARuleBoundsBulkActions by how many items they have, and tells undoing from doing.
func TestARuleBoundsBulkActions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	one, two := w.agent(honest), w.agent(honest)
	exclude := func(agents ...uuid.UUID) (bulk.BulkActionDetail, error) {
		d, _, err := w.StartBulkAction(ctx, w.by, w.project, bulk.Start{
			Subject: bulk.BulkAgents, Action: "exclude", Filter: bulk.BulkFilter{IDs: agents}, Reason: "loud",
		}, functions.Idempotency{})
		return d, err
	}
	w.guard(guardRule("few", guardian.Deny, "decision.items > 1", guardian.BulkStart))
	_, err := exclude(one.id, two.id)
	requireCode(t, err, "denied_by_guardian")
	d, err := exclude(one.id)
	require.NoError(t, err)
	w.settleAll()
	w.guard(guardRule("no-undo", guardian.Deny, "decision.undoes == '"+d.ID.String()+"'", guardian.BulkStart))
	_, _, err = w.UndoBulkAction(ctx, w.by, w.project, d.ID, "quiet", functions.Idempotency{})
	requireCode(t, err, "denied_by_guardian")
}

// TestAYesIsForOneUndo of one bulk action and for that number of items.
func TestAYesIsForOneUndo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	var done []bulk.BulkActionDetail
	for range 2 {
		of := bulk.BulkFilter{IDs: []uuid.UUID{w.agent(honest).id}}
		done = append(done, w.startBulk(bulk.Start{Subject: bulk.BulkAgents, Action: "exclude", Filter: of, Reason: "loud"}))
	}
	w.settleAll()
	w.guard(guardRule("look", guardian.Ask, "", guardian.BulkStart))
	undo := func(i int) error {
		_, _, err := w.UndoBulkAction(ctx, w.by, w.project, done[i].ID, "quiet", functions.Idempotency{})
		return err
	}
	requireCode(t, undo(0), "approval_needed")
	w.approve(w.by, w.waiting()[0])
	requireCode(t, undo(1), "approval_needed")
	require.NoError(t, undo(0))

	w.addFlags("mismatch", 1)
	dismiss := func() error {
		_, _, err := w.StartBulkAction(ctx, w.by, w.project, dismissal(bulk.BulkFilter{}), functions.Idempotency{})
		return err
	}
	waiting := len(w.waiting())
	requireCode(t, dismiss(), "approval_needed")
	w.approve(w.by, w.waiting()[waiting])
	w.addFlags("mismatch", 1)
	requireCode(t, dismiss(), "approval_needed")
}

// TestManyApprovalsEndABulkAction at the 20th item that needs a person's yes, and not before.
func TestManyApprovalsEndABulkAction(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.guard(guardRule("ask", guardian.Ask, "", guardian.FlagResolve))
	w.addFlags("limit", bulk.MaxApprovals-1)
	few := w.startBulk(dismissal(bulk.BulkFilter{}))
	w.settleAll()
	few = w.bulk(few.ID)
	require.Equal(t, bulk.BulkFinished, few.State)
	require.Equal(t, "approval_needed", few.Failures[0].Code)
	w.addFlags("mismatch", bulk.MaxApprovals+5)
	many := w.startBulk(dismissal(bulk.BulkFilter{Kind: "mismatch"}))
	w.settleAll()
	many = w.bulk(many.ID)
	require.Equal(t, bulk.BulkCancelled, many.State)
	require.Contains(t, many.Detail, "20 items need a person's yes")
	require.EqualValues(t, bulk.MaxApprovals, many.Failed)
	require.EqualValues(t, 5, many.Left)
}

// TestABulkActionIsOfWhatWasSeen: another number of items than was expected begins nothing.
func TestABulkActionIsOfWhatWasSeen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addFlags("mismatch", 2)
	start := dismissal(bulk.BulkFilter{})
	start.Expected = new(int64(2))
	w.addFlags("mismatch", 1)
	_, _, err := w.StartBulkAction(t.Context(), w.by, w.project, start, functions.Idempotency{})
	requireCode(t, err, "total_changed")
	start.Expected = new(int64(3))
	require.EqualValues(t, 3, w.startBulk(start).Total)
}

func TestReasonsAndFiltersOfBulkActionsAreChecked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.agent(honest)
	flag := uuid.New()
	exclusion := func(n int) bulk.Start {
		return bulk.Start{Subject: bulk.BulkAgents, Action: "exclude", Filter: bulk.BulkFilter{IDs: []uuid.UUID{a.id}}, Reason: strings.Repeat("ä", n)}
	}
	for _, bad := range []struct {
		start bulk.Start
		code  string
	}{
		{exclusion(fleet.MaxReason + 1), "bad_reason"},
		{dismissal(bulk.BulkFilter{Like: &flag, Kind: "limit"}), "bad_bulk_action"},
		{dismissal(bulk.BulkFilter{Like: &flag, Rule: "votes"}), "bad_bulk_action"},
		{dismissal(bulk.BulkFilter{Like: &flag, Function: "numbers"}), "bad_bulk_action"},
	} {
		_, _, err := w.StartBulkAction(t.Context(), w.by, w.project, bad.start, functions.Idempotency{})
		requireCode(t, err, bad.code)
	}
	d := w.startBulk(exclusion(fleet.MaxReason))
	w.settleAll()
	require.EqualValues(t, 1, w.bulk(d.ID).Done)
	_, _, err := w.UndoBulkAction(t.Context(), w.by, w.project, d.ID, strings.Repeat("x", fleet.MaxReason+1), functions.Idempotency{})
	requireCode(t, err, "bad_reason")
}

// TestBulkActionsKeepSoMuch: as many items as may be, and what was left of one that was cancelled a day ago is dropped.
func TestBulkActionsKeepSoMuch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	w.addFlags("limit", 2)
	w.addFlags("mismatch", 1)
	first := w.startBulk(dismissal(bulk.BulkFilter{Kind: "mismatch"}))
	_, err := w.CancelBulkAction(ctx, w.by, w.project, first.ID)
	require.NoError(t, err)
	_, err = w.store.Pool.Exec(ctx, `insert into ostraka.bulk_items (bulk_id, number, item, revision, was)
select $1, 1 + i, gen_random_uuid(), 1, '' from generate_series(1, $2::integer) i`, first.ID, bulk.MaxKept-1-1)
	require.NoError(t, err)
	one := dismissal(bulk.BulkFilter{Kind: "limit"})
	_, _, err = w.StartBulkAction(ctx, w.by, w.project, one, functions.Idempotency{})
	requireCode(t, err, "too_many_bulk_items")
	w.startBulk(dismissal(bulk.BulkFilter{Kind: "mismatch"}))

	require.NoError(t, w.Retain(ctx, stepargs.RetentionArgs{}))
	_, err = w.RetryBulkAction(ctx, w.by, w.project, first.ID)
	require.NoError(t, err, "it was cancelled just now")
	_, err = w.CancelBulkAction(ctx, w.by, w.project, first.ID)
	require.NoError(t, err)
	_, err = w.store.Pool.Exec(ctx, "update ostraka.bulk_actions set ended_at = now() - make_interval(secs => $2) where id = $1", first.ID, bulk.LeftFor.Seconds()+60)
	require.NoError(t, err)
	require.NoError(t, w.Retain(ctx, stepargs.RetentionArgs{}))
	last := w.startBulk(one)
	_, err = w.RetryBulkAction(ctx, w.by, w.project, first.ID)
	requireCode(t, err, "nothing_left")

	w.settleAll()
	items := func() (n int) {
		require.NoError(t, w.store.Pool.QueryRow(ctx, "select count(*) from ostraka.bulk_items where bulk_id = $1", last.ID).Scan(&n))
		return n
	}
	require.NoError(t, w.Retain(ctx, stepargs.RetentionArgs{}))
	require.Equal(t, 2, items())
	_, err = w.store.Pool.Exec(ctx, "update ostraka.bulk_actions set ended_at = now() - make_interval(secs => $2) where id = $1", last.ID, bulk.LeftFor.Seconds()+60)
	require.NoError(t, err)
	require.NoError(t, w.Retain(ctx, stepargs.RetentionArgs{}))
	require.Zero(t, items())
	require.EqualValues(t, 2, w.bulk(last.ID).Done, "how many it were is known")
}
