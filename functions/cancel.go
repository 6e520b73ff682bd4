package functions

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions/store"
)

// CancelArgs is the step that settles the open shards of a cancelled job.
type CancelArgs struct {
	Project uuid.UUID `json:"project"`
	Job     uuid.UUID `json:"job"`
}

// Kind names the step.
func (CancelArgs) Kind() string { return "cancel" }

// cancelPages is how many pages one transaction of the step settles.
const cancelPages = 64

// CancelJob ends a job at once: nothing of it is lent any more, and agents that work on it are told with their next heartbeat.
// Cancelling twice is harmless; a job that has ended otherwise cannot be cancelled.
func (s *Service) CancelJob(ctx context.Context, by Principal, project, id uuid.UUID) (Job, error) {
	err := s.project(ctx, project, func(tx *store.Tx) error {
		state, found, err := store.Value[JobState](ctx, tx, store.LockJob, id)
		if err != nil || !found {
			return orNotFound(err, "job", id)
		}
		if state == JobCancelled {
			return nil
		}
		if state.Ended() {
			return ErrJobEnded.with("job %s is %s and cannot be cancelled", id, state)
		}
		if err := audit(ctx, tx, by.Actor(), "job.cancel", id.String(), nil); err != nil {
			return err
		}
		return s.endJob(ctx, tx, project, id, JobCancelled, "cancelled by "+by.Actor(), CancelArgs{Project: project, Job: id})
	})
	if err != nil {
		return Job{}, err
	}
	return s.GetJob(ctx, project, id)
}

// endJob brings a job to a final state, takes it out of dispatch, ends its leases and enqueues what follows. It is the last thing
// that a transaction does.
func (s *Service) endJob(ctx context.Context, tx *store.Tx, project, id uuid.UUID, state JobState, why string, next ...Step) error {
	if _, err := store.Exec(ctx, tx, store.EndJob, id, state, why); err != nil {
		return err
	}
	if err := addEvent(ctx, tx, id, EventEnded, map[string]any{"state": state, "error": why}); err != nil {
		return err
	}
	leases, err := store.Values[uuid.UUID](ctx, tx, store.EndJobLeases, id)
	if err != nil {
		return err
	}
	server, err := tx.AsServer(ctx)
	if err != nil {
		return err
	}
	if _, err := store.Exec(ctx, server, store.EndLease, leases); err != nil {
		return err
	}
	if _, err := store.Exec(ctx, server, store.CloseJob, id); err != nil {
		return err
	}
	if len(next) == 0 {
		return nil
	}
	return s.queue.Enqueue(ctx, server, next...)
}

// Cancel settles the open shards of a cancelled job, some pages at a time.
func (s *Service) Cancel(ctx context.Context, args CancelArgs) error {
	for {
		var n int64
		err := s.project(ctx, args.Project, func(tx *store.Tx) (err error) {
			n, err = store.Exec(ctx, tx, store.CancelPages, args.Job, cancelPages)
			return err
		})
		if err != nil {
			return fmt.Errorf("cancelling the shards of job %s: %w", args.Job, err)
		}
		if n == 0 {
			return nil
		}
	}
}
