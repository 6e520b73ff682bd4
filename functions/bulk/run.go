package bulk

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/bulk/sql"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
)

// RunBulk does to the next items what the bulk action says, until none is left or it is the turn of others. Each item is a transaction of the
// room that does it, and is marked in another one: what was cut off in between is done again, which is harmless.
func (s *Service) RunBulk(ctx context.Context, args stepargs.BulkArgs) error {
	slice := base.NewSlice()
	for {
		r, items, err := s.next(ctx, args)
		if err != nil {
			return fmt.Errorf("reading bulk action %s: %w", args.Bulk, err)
		}
		if len(items) == 0 {
			return nil
		}
		if err := s.doAll(ctx, r, items, slice); err != nil {
			return err
		}
	}
}

// doAll does items until somebody has stopped the bulk action, or its key does not hold any more: that is looked at before each.
func (s *Service) doAll(ctx context.Context, r row, items []item, slice base.Slice) error {
	for _, i := range items {
		goesOn, err := s.goesOn(ctx, r)
		if err != nil || !goesOn {
			return err
		}
		if err := s.doOne(ctx, r, i); err != nil {
			return fmt.Errorf("doing %s to %s of bulk action %s: %w", r.Action, i.Item, r.ID, err)
		}
		if err := slice.Over(); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) goesOn(ctx context.Context, r row) (goesOn bool, err error) {
	err = s.env.Control(ctx, func(tx pgx.Tx) error {
		goesOn, _, err = store.Value[bool](ctx, tx, sql.GoesOn, r.ID, r.Turn, maybe(r.Principal.Key))
		return err
	})
	return goesOn, err
}

// next reads the items that wait. A bulk action of which none is left has ended, and so has one whose key does not hold any more.
func (s *Service) next(ctx context.Context, args stepargs.BulkArgs) (r row, items []item, err error) {
	err = s.env.Control(ctx, func(tx pgx.Tx) error {
		var found bool
		if r, found, err = store.One[row](ctx, tx, sql.LockBulk, args.Bulk, maybe(args.Project)); err != nil || !found || r.State != BulkRunning || r.Turn != args.Turn {
			return err
		}
		if why, err := s.mayGoOn(ctx, tx, r); err != nil || why != "" {
			return errors.Join(err, end(ctx, tx, r, BulkCancelled, why))
		}
		if items, err = store.Many[item](ctx, tx, sql.NextItems, args.Bulk, itemsAtOnce); err != nil || len(items) > 0 {
			return err
		}
		return end(ctx, tx, r, BulkFinished, "")
	})
	return r, items, err
}

// mayGoOn says why a bulk action is to stop: whoever began it may not do it any more.
func (s *Service) mayGoOn(ctx context.Context, tx pgx.Tx, r row) (why string, err error) {
	if r.Principal.Key == uuid.Nil { // an identity provider vouched for them when they began it
		return "", nil
	}
	holds, _, err := store.Value[bool](ctx, tx, sql.KeyHolds, r.Principal.Key)
	if err != nil || holds {
		return "", err
	}
	return "the key with which it was begun was revoked, or has expired", nil
}

func end(ctx context.Context, tx pgx.Tx, r row, state BulkState, why string) error {
	_, err := store.Exec(ctx, tx, sql.EndBulk, r.ID, state, why)
	return err
}

// doOne does one item and marks it.
func (s *Service) doOne(ctx context.Context, r row, i item) error {
	k, known := find(r.project(), r.Subject, r.Action)
	if !known {
		return fmt.Errorf("this server does not know how to %s %s", r.Action, r.Subject)
	}
	state, failure := "done", BulkFailure{}
	again, err := k.do(ctx, s.doers, r, i)
	if again {
		return nil
	}
	if err != nil {
		if failure, known = failureOf(err); !known {
			return err
		}
		state = "failed"
	}
	return s.env.Control(ctx, func(tx pgx.Tx) error {
		if _, err := store.Exec(ctx, tx, sql.SettleItem, r.ID, i.Number, state, failure.Code, failure.Message, r.Turn); err != nil {
			return err
		}
		if failure.Code != needsApproval {
			return nil
		}
		return endOfAsking(ctx, tx, r)
	})
}

// needsApproval is the code of what waits for a person's yes.
const needsApproval = "approval_needed"

// endOfAsking ends a bulk action that has asked for so many approvals that a person has to look at the rule first.
func endOfAsking(ctx context.Context, tx pgx.Tx, r row) error {
	asked, _, err := store.Value[int64](ctx, tx, sql.CountFailedWith, r.ID, needsApproval)
	if err != nil || asked < MaxApprovals {
		return err
	}
	return end(ctx, tx, r, BulkCancelled, fmt.Sprintf("%d items need a person's yes each: approve them, or change the guardian's rule, and retry", asked))
}

// ofTheItem are the codes of what is unavailable however often it is tried.
var ofTheItem = []string{"no_recheck", functions.ErrObjectDamaged.Code}

// failureOf is what was wrong with an item; anything else is wrong with the server, which tries again.
func failureOf(err error) (BulkFailure, bool) {
	var wrong *functions.Error
	if !errors.As(err, &wrong) || wrong.Kind == functions.KindUnavailable && !slices.Contains(ofTheItem, wrong.Code) {
		return BulkFailure{}, false
	}
	message := wrong.Message
	if len(message) > MaxFailure {
		cut := MaxFailure
		for !utf8.RuneStart(message[cut]) {
			cut--
		}
		message = message[:cut] + "…"
	}
	return BulkFailure{Code: wrong.Code, Message: message}, true
}
