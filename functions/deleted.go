package functions

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions/store"
)

// notDeleted refuses what is asked of a job that is being deleted.
func notDeleted(ctx context.Context, tx *store.Tx, job uuid.UUID) error {
	state, found, err := store.Value[JobState](ctx, tx, store.GetJobState, job)
	if err != nil || !found || state == JobDeleting {
		return orNotFound(err, "job", job)
	}
	return nil
}

// sayDeleted makes of a job that is not found one that was deleted, where it was.
func (s *Service) sayDeleted(ctx context.Context, project uuid.UUID, err error) error {
	var missing *Error
	if !errors.As(err, &missing) || missing.job == uuid.Nil {
		return err
	}
	type deleted struct {
		DeletedBy string
		DeletedAt time.Time
	}
	var row deleted
	var found bool
	lookup := s.store.Project(ctx, project, func(tx *store.Tx) (err error) {
		row, found, err = store.One[deleted](ctx, tx, store.GetDeletedJob, missing.job)
		return err
	})
	if lookup != nil || !found {
		return err
	}
	return ErrJobDeleted.with("job %s was deleted by %s at %s", missing.job, row.DeletedBy, row.DeletedAt.UTC().Format(time.RFC3339))
}

// orLeaseOfDeleted is for a lease that the server knows and its project does not any more: its job was deleted.
func orLeaseOfDeleted(err error) error {
	if err != nil {
		return err
	}
	return ErrLeaseEnded.with("the lease has ended: its job was deleted")
}
