package jobs

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/jobs/sql"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/guardian"
)

// CancelJob ends a job at once: none of its shards is leased any more, and agents that work on it are told with a heartbeat soon.
// Cancelling twice is harmless; a job that has ended otherwise cannot be cancelled.
func (s *Service) CancelJob(ctx context.Context, by functions.Principal, project, id uuid.UUID) (functions.Job, error) {
	if err := s.StopJob(ctx, base.Intent{By: by, Project: project}, id, by.Actor()); err != nil {
		return functions.Job{}, err
	}
	return s.GetJob(ctx, project, id)
}

// StopJob is CancelJob for steps too: the intent says who or which step has it happen, and actor is written into the log.
func (s *Service) StopJob(ctx context.Context, i base.Intent, id uuid.UUID, actor string) error {
	i.Kind, i.Subject = guardian.JobCancel, id.String()
	return s.env.Project(ctx, i.Project, func(tx *store.Tx) error {
		state, found, err := store.Value[functions.JobState](ctx, tx, store.LockJob, id)
		if err != nil || !found || state == functions.JobDeleting {
			return base.OrNotFound(err, "job", id)
		}
		if state == functions.JobCancelled {
			return nil
		}
		if state.Ended() {
			return functions.ErrJobEnded.With("job %s is %s and cannot be cancelled", id, state)
		}
		if i.Facts, err = Facts(ctx, tx, id); err != nil {
			return err
		}
		if err := s.env.Ask(ctx, tx, i); err != nil {
			return err
		}
		if err := base.Audit(ctx, tx, actor, "job.cancel", id.String(), nil); err != nil {
			return err
		}
		return s.endJob(ctx, tx, i.Project, id, functions.JobCancelled, "cancelled by "+actor, nil, stepargs.CancelArgs{Project: i.Project, Job: id})
	})
}

// endJob brings a job to a final state, takes it out of dispatch and enqueues what follows, the run of a workflow that waits for it included. It is the last thing that a transaction
// does. leases are those that the transaction has ended in the project.
func (s *Service) endJob(ctx context.Context, tx *store.Tx, project, id uuid.UUID, state functions.JobState, why string, leases []uuid.UUID, next functions.Step) error {
	if _, err := store.Exec(ctx, tx, sql.EndJob, id, state, why); err != nil {
		return err
	}
	if err := base.AddEvent(ctx, tx, id, base.EventEnded, map[string]any{"state": state, "error": why}); err != nil {
		return err
	}
	if err := base.AnnounceJob(ctx, tx, id, functions.WebhookKindOf(state)); err != nil {
		return err
	}
	runs, err := store.Values[uuid.UUID](ctx, tx, sql.RunsOfJob, id)
	if err != nil {
		return err
	}
	server, err := tx.AsServer(ctx)
	if err != nil {
		return err
	}
	if len(leases) > 0 { // who refuses a job has locked it in open_jobs already, and it has none
		if _, err := store.Exec(ctx, server, store.EndLease, leases); err != nil {
			return err
		}
	}
	if _, err := store.Exec(ctx, server, sql.CloseJob, id); err != nil {
		return err
	}
	steps := []functions.Step{next}
	for _, run := range runs {
		steps = append(steps, stepargs.AdvanceRunArgs{Project: project, Run: run})
	}
	return s.env.Queue.Enqueue(ctx, server, steps...)
}

// Cancel settles the open shards of a job that has ended before they were, a page at a time. Leases are ended at the start, so that
// agents hear of it soon, and again at the end: a lease that was being given meanwhile held the locks of its shards until then.
func (s *Service) Cancel(ctx context.Context, args stepargs.CancelArgs) error {
	if err := s.cancelLeases(ctx, args); err != nil {
		return err
	}
	page, more := int64(-1), true
	mine := base.NewSlice()
	for more {
		err := s.env.Project(ctx, args.Project, func(tx *store.Tx) error {
			next, found, err := store.Value[int64](ctx, tx, sql.CancelPage, args.Job, int64(partition.PageSize), page)
			if found {
				page = next
			}
			more = found
			return err
		})
		if err != nil {
			return fmt.Errorf("cancelling the shards of job %s: %w", args.Job, err)
		}
		if err := mine.Over(); err != nil && more {
			return err
		}
	}
	return s.cancelLeases(ctx, args)
}

func (s *Service) cancelLeases(ctx context.Context, args stepargs.CancelArgs) error {
	err := s.env.Project(ctx, args.Project, func(tx *store.Tx) error {
		leases, err := store.Values[uuid.UUID](ctx, tx, sql.EndJobLeases, args.Job)
		if err != nil || len(leases) == 0 {
			return err
		}
		server, err := tx.AsServer(ctx)
		if err != nil {
			return err
		}
		_, err = store.Exec(ctx, server, store.EndLease, leases)
		return err
	})
	if err != nil {
		return fmt.Errorf("ending the leases of job %s: %w", args.Job, err)
	}
	return nil
}

// Refuse ends a job that waits for an approval which does not come. One that has ended stays as it is. It is the last thing that a
// transaction does.
func (s *Service) Refuse(ctx context.Context, tx *store.Tx, project, id uuid.UUID, why string) error {
	state, found, err := store.Value[functions.JobState](ctx, tx, store.LockJob, id)
	if err != nil || !found || state.Ended() || state == functions.JobDeleting {
		return err
	}
	return s.endJob(ctx, tx, project, id, functions.JobCancelled, why, nil, stepargs.CancelArgs{Project: project, Job: id})
}
