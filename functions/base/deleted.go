package base

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base/sql"
	"github.com/ostraka/ostraka/functions/store"
)

// NotDeleted refuses what is asked of a job that is being deleted.
func NotDeleted(ctx context.Context, tx *store.Tx, job uuid.UUID) error {
	state, found, err := store.Value[functions.JobState](ctx, tx, store.GetJobState, job)
	if err != nil || !found || state == functions.JobDeleting {
		return OrNotFound(err, "job", job)
	}
	return nil
}

// sayDeleted makes of a job that is not found one that was deleted, where it was.
func (e *Env) sayDeleted(ctx context.Context, project uuid.UUID, err error) error {
	var missing *functions.Error
	if !errors.As(err, &missing) || missing.Job == uuid.Nil {
		return err
	}
	type deleted struct {
		DeletedBy string
		DeletedAt time.Time
	}
	var row deleted
	var found bool
	lookup := e.Store.Project(ctx, project, func(tx *store.Tx) (err error) {
		row, found, err = store.One[deleted](ctx, tx, sql.GetDeletedJob, missing.Job)
		return err
	})
	if lookup != nil || !found {
		return err
	}
	return functions.ErrJobDeleted.With("job %s was deleted by %s at %s", missing.Job, row.DeletedBy, row.DeletedAt.UTC().Format(time.RFC3339))
}

// OrLeaseOfDeleted is for a lease that the server knows and its project does not any more: its job was deleted.
func OrLeaseOfDeleted(err error) error {
	if err != nil {
		return err
	}
	return functions.ErrLeaseEnded.With("the lease has ended: its job was deleted")
}
