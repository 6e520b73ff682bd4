package bulk

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/bulk/sql"
	"github.com/ostraka/ostraka/functions/store"
)

// GetBulkAction returns a bulk action with the first failures.
func (s *Service) GetBulkAction(ctx context.Context, project, id uuid.UUID) (d BulkActionDetail, err error) {
	err = s.env.Control(ctx, func(tx pgx.Tx) error {
		r, found, err := store.One[row](ctx, tx, sql.GetBulk, id, maybe(project))
		if err != nil || !found {
			return base.OrNotFound(err, "bulk action", id)
		}
		d.BulkAction = r.action()
		d.Failures, err = store.Many[BulkFailure](ctx, tx, sql.ListFailures, id, ShownFailures)
		return err
	})
	return d, err
}

func (s *Service) get(ctx context.Context, project, id uuid.UUID) (r row, err error) {
	err = s.env.Control(ctx, func(tx pgx.Tx) error {
		var found bool
		if r, found, err = store.One[row](ctx, tx, sql.GetBulk, id, maybe(project)); err != nil || !found {
			return base.OrNotFound(err, "bulk action", id)
		}
		return nil
	})
	return r, err
}

// start is what whoever began it has asked for.
func (r row) start() Start {
	return Start{Subject: r.Subject, Action: r.Action, Filter: r.Filter, Reason: r.Reason}
}

// ListBulkActions lists bulk actions, the newest first.
func (s *Service) ListBulkActions(ctx context.Context, project uuid.UUID, page functions.ListPage) (list []BulkAction, err error) {
	after, err := base.AfterID(page)
	if err != nil {
		return nil, err
	}
	err = s.env.Control(ctx, func(tx pgx.Tx) error {
		rows, err := store.Many[row](ctx, tx, sql.ListBulks, maybe(after), base.PageLimit(page), maybe(project))
		list = make([]BulkAction, len(rows))
		for i, r := range rows {
			list[i] = r.action()
		}
		return err
	})
	return list, err
}
