package functions

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/functions/store"
)

// afterID reads the cursor of a list that is ordered by ID.
func afterID(page ListPage) (uuid.UUID, error) {
	if page.After == "" {
		return uuid.Nil, nil
	}
	id, err := uuid.Parse(page.After)
	if err != nil {
		return uuid.Nil, badCursor()
	}
	return id, nil
}

// badCursor refuses a cursor that no list has given.
func badCursor() error {
	return Invalid("bad_cursor", "the cursor is not one that this list gave out", "start again without a cursor")
}

// limit is how many rows of a list are read.
func limit(page ListPage) int { return min(max(page.Limit, 1), MaxListLimit) }

// listControl lists rows of the control schema that are ordered by ID. The query takes the cursor, the limit and then args.
func listControl[T any](ctx context.Context, s *Service, q store.Query, page ListPage, args ...any) (list []T, err error) {
	after, err := afterID(page)
	if err != nil {
		return nil, err
	}
	err = s.control(ctx, func(tx pgx.Tx) error {
		list, err = store.Many[T](ctx, tx, q, append([]any{after, limit(page)}, args...)...)
		return err
	})
	return list, err
}
