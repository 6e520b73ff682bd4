package base

import (
	"context"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base/sql"
	"github.com/ostraka/ostraka/functions/store"
)

// Archived says whether the shards of a job are read from its archive. A reader of rows asks afterwards: if it was not archived then,
// nothing had been removed when the rows were read.
func Archived(ctx context.Context, tx *store.Tx, job uuid.UUID) (bool, error) {
	archived, _, err := store.Value[bool](ctx, tx, sql.IsArchived, job)
	return archived, err
}

// NotArchived refuses what is asked of shards that have left the database.
func NotArchived(ctx context.Context, tx *store.Tx, job uuid.UUID) error {
	archived, err := Archived(ctx, tx, job)
	if err == nil && archived {
		err = functions.ErrJobArchived.With("job %s is archived: its shards have left the database", job)
	}
	return err
}
