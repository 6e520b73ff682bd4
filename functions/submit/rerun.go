package submit

import (
	"context"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/store"
)

// mustBeThere refuses to run a job again that there is not.
func mustBeThere(ctx context.Context, tx *store.Tx, job *uuid.UUID) error {
	if job == nil {
		return nil
	}
	return base.NotDeleted(ctx, tx, *job)
}
