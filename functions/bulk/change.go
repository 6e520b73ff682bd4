package bulk

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/bulk/sql"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/guardian"
)

// CancelBulkAction has nothing more of a bulk action done. Cancelling twice is harmless.
func (s *Service) CancelBulkAction(ctx context.Context, by functions.Principal, project, id uuid.UUID) (BulkActionDetail, error) {
	r, err := s.get(ctx, project, id)
	if err != nil {
		return BulkActionDetail{}, err
	}
	err = s.env.In(ctx, project, func(tx *store.Tx) error {
		if err := s.env.Ask(ctx, tx, asking{start: r.start(), bulk: &r.ID, items: r.left()}.intent(by, project, guardian.BulkStop)); err != nil {
			return err
		}
		if r.State != BulkRunning {
			return nil
		}
		if err := record(ctx, tx, by, project, "bulk.cancel", id, nil); err != nil {
			return err
		}
		server, err := tx.AsServer(ctx)
		if err != nil {
			return err
		}
		_, err = store.Exec(ctx, server, sql.EndBulk, id, BulkCancelled, "cancelled by "+by.Actor())
		return err
	})
	if err != nil {
		return BulkActionDetail{}, err
	}
	return s.GetBulkAction(ctx, project, id)
}

// RetryBulkAction has the items that failed done again, and, of one that was cancelled, those that were left. It has the rights of whoever
// asks from then on.
func (s *Service) RetryBulkAction(ctx context.Context, by functions.Principal, project, id uuid.UUID) (BulkActionDetail, error) {
	r, err := s.get(ctx, project, id)
	if err != nil {
		return BulkActionDetail{}, err
	}
	err = s.env.In(ctx, project, func(tx *store.Tx) error {
		if err := s.env.Ask(ctx, tx, asking{start: r.start(), undoes: r.Undoes, bulk: &r.ID, items: r.Total - r.Done}.intent(by, project, guardian.BulkStart)); err != nil {
			return err
		}
		if err := record(ctx, tx, by, project, "bulk.retry", id, nil); err != nil {
			return err
		}
		turn, err := s.reopen(ctx, tx, by, project, id)
		if err != nil {
			return err
		}
		return s.env.Enqueue(ctx, tx, stepargs.BulkArgs{Project: project, Bulk: id, Turn: turn})
	})
	if err != nil {
		return BulkActionDetail{}, err
	}
	return s.GetBulkAction(ctx, project, id)
}

// errNothingLeft says why no item of a bulk action can be done again.
func errNothingLeft(r row) error {
	e := &functions.Error{Kind: functions.KindConflict, Code: "nothing_left", Message: "nothing of the bulk action is left to do: all of it was done", Hint: "begin another one for what matches now"}
	if r.State == BulkRunning {
		e.Message, e.Hint = "the bulk action goes on", "wait until it has ended; GET on it says what failed"
	}
	return e
}

// errCannotBeUndone says why nothing takes back a bulk action.
func errCannotBeUndone(project uuid.UUID, r row) error {
	e := &functions.Error{Kind: functions.KindConflict, Code: "cannot_be_undone", Message: fmt.Sprintf("nothing takes back what %q has done to %s", r.Action, r.Subject), Hint: "decide about them anew, one by one or by another bulk action"}
	switch {
	case UndoOf(project != uuid.Nil, r.Subject, r.Action) == "":
	case r.State == BulkRunning:
		e.Message, e.Hint = "the bulk action goes on", "wait until it has ended, or cancel it; then undo it"
	default:
		e.Message, e.Hint = "the bulk action has done nothing", "there is nothing to take back"
	}
	return e
}

// reopen begins another turn of a bulk action, and says which.
func (s *Service) reopen(ctx context.Context, tx *store.Tx, by functions.Principal, project, id uuid.UUID) (turn int64, err error) {
	server, err := tx.AsServer(ctx)
	if err != nil {
		return 0, err
	}
	if err := mayRun(ctx, server, maybe(project)); err != nil {
		return 0, err
	}
	r, found, err := store.One[row](ctx, server, sql.LockBulk, id, maybe(project))
	if err != nil || !found {
		return 0, base.OrNotFound(err, "bulk action", id)
	}
	left, _, err := store.Value[int64](ctx, server, sql.CountLeft, id)
	if err != nil {
		return 0, err
	}
	if r.State == BulkRunning || left == 0 {
		return 0, errNothingLeft(r)
	}
	whose, err := encode(rightsOf(by))
	if err != nil {
		return 0, err
	}
	if _, err := store.Exec(ctx, server, sql.RetryItems, id); err != nil {
		return 0, err
	}
	turn, _, err = store.Value[int64](ctx, server, sql.ReopenBulk, id, whose)
	return turn, err
}

// UndoBulkAction makes a bulk action that takes back what another one has done.
func (s *Service) UndoBulkAction(ctx context.Context, by functions.Principal, project, id uuid.UUID, reason string, idem functions.Idempotency) (d BulkActionDetail, replayed bool, err error) {
	r, err := s.get(ctx, project, id)
	if err != nil {
		return d, false, err
	}
	undo := r.action().Undo
	if undo == "" {
		return d, false, errCannotBeUndone(project, r)
	}
	start := Start{Subject: r.Subject, Action: undo, All: true, Reason: reason} // all that was done
	if _, err := start.check(project); err != nil {
		return d, false, err
	}
	made := base.NewID()
	err = s.env.In(ctx, project, func(tx *store.Tx) error {
		if made, replayed, err = base.RememberInProject(ctx, tx, project, "undo-bulk-action", idem, made); err != nil || replayed {
			return err
		}
		items, err := doneBy(ctx, tx, r)
		if err != nil {
			return err
		}
		return s.begin(ctx, tx, by, project, making{id: made, start: start, items: items, undoes: &id})
	})
	if err != nil {
		return BulkActionDetail{}, false, err
	}
	d, err = s.GetBulkAction(ctx, project, made)
	return d, replayed, err
}

// doneBy are the items that a bulk action has done and that are still as it left them.
func doneBy(ctx context.Context, tx *store.Tx, r row) (items []chosen, err error) {
	was := tx.Server()
	server, err := tx.AsServer(ctx)
	if err != nil {
		return nil, err
	}
	if items, err = chooseDone(ctx, server, r); err != nil {
		return nil, err
	}
	if len(items) == 0 {
		return nil, nothingLeftToUndo(r)
	}
	return items, tx.SetServer(ctx, was)
}

// chooseDone finds them where agents are; nothing takes back what was done to anything else.
func chooseDone(ctx context.Context, server store.DB, r row) ([]chosen, error) {
	if r.ProjectID != nil {
		return store.Many[chosen](ctx, server, sql.DoneMembers, r.ID, r.Action == "exclude")
	}
	k, _ := find(uuid.Nil, r.Subject, r.Action)
	back, _ := find(uuid.Nil, r.Subject, k.undo)
	return store.Many[chosen](ctx, server, sql.DoneAgents, r.ID, k.to, back.to)
}

func nothingLeftToUndo(r row) error {
	return &functions.Error{
		Kind: functions.KindConflict, Code: "nothing_matches", Message: fmt.Sprintf("no %s are as %q has left them: others have decided about them before or since", r.Subject, r.Action),
		Hint: "decide about those that you mean by their IDs",
	}
}
