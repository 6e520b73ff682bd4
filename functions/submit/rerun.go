package submit

import (
	"context"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/store"
)

// mustBeThere refuses to run a job again that there is not, or whose shards are in an archive: who was wrong in it is known of its rows alone.
func mustBeThere(ctx context.Context, tx *store.Tx, job *uuid.UUID) error {
	if job == nil {
		return nil
	}
	if err := base.NotDeleted(ctx, tx, *job); err != nil {
		return err
	}
	return base.NotArchived(ctx, tx, *job)
}
