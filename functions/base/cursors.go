package base

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/store"
)

// AfterID reads the cursor of a list that is ordered by ID.
func AfterID(page functions.ListPage) (uuid.UUID, error) {
	if page.After == "" {
		return uuid.Nil, nil
	}
	id, err := uuid.Parse(page.After)
	if err != nil {
		return uuid.Nil, BadCursor()
	}
	return id, nil
}

// BadCursor refuses a cursor that no list has given.
func BadCursor() error {
	return functions.Invalid("bad_cursor", "the cursor is not one that this list gave out", "start again without a cursor")
}

// PageLimit is how many rows of a list are read.
func PageLimit(page functions.ListPage) int { return min(max(page.Limit, 1), functions.MaxListLimit) }

// ListControl lists rows of the control schema that are ordered by ID. The query takes the cursor, the limit and then args.
func ListControl[T any](ctx context.Context, s *Env, q store.Query, page functions.ListPage, args ...any) (list []T, err error) {
	after, err := AfterID(page)
	if err != nil {
		return nil, err
	}
	err = s.Control(ctx, func(tx pgx.Tx) error {
		list, err = store.Many[T](ctx, tx, q, append([]any{after, PageLimit(page)}, args...)...)
		return err
	})
	return list, err
}
