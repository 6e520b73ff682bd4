package bulk

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/bulk/sql"
	"github.com/ostraka/ostraka/functions/store"
)

// PlanBulkAction says what a bulk action would be about, and changes nothing.
func (s *Service) PlanBulkAction(ctx context.Context, project uuid.UUID, start Start) (p BulkPlan, err error) {
	k, err := s.prepare(ctx, project, &start)
	if err != nil {
		return p, err
	}
	err = s.env.In(ctx, project, func(tx *store.Tx) error {
		items, err := choose(ctx, tx, start, k)
		if err != nil {
			return err
		}
		p = BulkPlan{Total: int64(len(items)), First: make([]uuid.UUID, min(len(items), ShownFailures))}
		for i := range p.First {
			p.First[i] = items[i].Item
		}
		return nil
	})
	return p, err
}

// prepare checks a bulk action and says what flags that are like one have in common.
func (s *Service) prepare(ctx context.Context, project uuid.UUID, start *Start) (kind, error) {
	k, err := start.check(project)
	if err != nil || start.Filter.Like == nil {
		return k, err
	}
	like, err := s.doers.GetFlag(ctx, project, *start.Filter.Like)
	if err != nil {
		return k, err
	}
	f := &start.Filter
	f.Kind, f.Rule, f.Function = like.Kind, like.Rule, like.Function
	return k, nil
}

// choose finds what a bulk action is about, in the order of the IDs. It leaves the project's role where agents are looked for.
func choose(ctx context.Context, tx *store.Tx, s Start, k kind) (items []chosen, err error) {
	f := s.Filter
	limit := MaxItems + 1
	switch s.Subject {
	case BulkFlags:
		items, err = store.Many[chosen](ctx, tx, sql.ChooseFlags, limit, f.IDs, f.Kind, f.Rule, f.Function, f.Job, f.Agent)
	case BulkJobs:
		items, err = store.Many[chosen](ctx, tx, sql.ChooseJobs, limit, f.IDs, f.State, f.Function, k.ended)
	default:
		items, err = chooseAgents(ctx, tx, f, k)
	}
	switch {
	case err != nil:
		return nil, err
	case len(items) > MaxItems:
		return nil, &functions.Error{
			Kind: functions.KindTooLarge, Code: "too_many_items", Message: fmt.Sprintf("more than %d %s match", MaxItems, s.Subject),
			Hint: "choose fewer, and make another bulk action of the others",
		}
	case s.Expected != nil && *s.Expected != int64(len(items)):
		return nil, errTotalChanged(*s.Expected, len(items), s.Subject)
	case len(items) == 0:
		return nil, &functions.Error{
			Kind: functions.KindConflict, Code: "nothing_matches", Message: fmt.Sprintf("no %s match for which %q can be done now", s.Subject, s.Action),
			Hint: "look at the list with the same filter",
		}
	}
	return items, nil
}

// errTotalChanged says that the list has changed since whoever asks has looked at it.
func errTotalChanged(expected int64, now int, of BulkSubject) error {
	return &functions.Error{
		Kind: functions.KindConflict, Code: "total_changed", Message: fmt.Sprintf("%d %s match now, and %d were expected", now, of, expected),
		Hint: "look at the plan again, and send the number that it says",
	}
}

func chooseAgents(ctx context.Context, tx *store.Tx, f BulkFilter, k kind) (items []chosen, err error) {
	project := tx.Project()
	was := tx.Server()
	server, err := tx.AsServer(ctx)
	if err != nil {
		return nil, err
	}
	if project == uuid.Nil {
		items, err = store.Many[chosen](ctx, server, sql.ChooseAgents, MaxItems+1, f.IDs, f.State, f.Owner, k.from)
	} else {
		items, err = store.Many[chosen](ctx, server, sql.ChooseProjectAgents, MaxItems+1, f.IDs, f.State, f.Owner, project, k.outside)
	}
	if err != nil {
		return nil, err
	}
	return items, tx.SetServer(ctx, was)
}
