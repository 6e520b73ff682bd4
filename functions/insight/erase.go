package insight

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/insight/sql"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/guardian"
)

const (
	// eraseBatch is how many rows of each table one transaction removes, beside the rows of a page of shards.
	eraseBatch = 1000
	// eraseLeaseBatch is the same for leases, each of which has submissions.
	eraseLeaseBatch = 200
	// EraseOnceMore is longer than anything may take that was under way when the job went.
	EraseOnceMore = time.Hour
)

// ErrJobGoesOn says that only an ended job can be deleted.
var ErrJobGoesOn = &functions.Error{
	Kind: functions.KindConflict, Code: "job_goes_on", Message: "the job has not ended, and only ended jobs are deleted",
	Hint: "cancel it first: ostraka job cancel JOB; or wait until it has ended",
}

// DeleteJob deletes a job that has ended, with all that belongs to it. It is gone for its readers at once, and from the database page by
// page. Deleting a job twice is harmless.
func (s *Service) DeleteJob(ctx context.Context, by functions.Principal, project, id uuid.UUID) (functions.Job, error) {
	err := s.env.Project(ctx, project, func(tx *store.Tx) error {
		state, found, err := store.Value[functions.JobState](ctx, tx, store.LockJob, id)
		if err != nil || !found {
			return base.OrNotFound(err, "job", id)
		}
		if state == functions.JobDeleting {
			return nil
		}
		if !state.Ended() {
			return ErrJobGoesOn.With("job %s is %s, and only jobs that have ended are deleted", id, state)
		}
		facts := guardian.DataFacts{Data: guardian.Data{Type: "job", Name: id.String()}}
		if err := s.env.Ask(ctx, tx, base.Intent{By: by, Project: project, Kind: guardian.DataDelete, Subject: id.String(), Facts: facts}); err != nil {
			return err
		}
		return s.beginErase(ctx, tx, by.Actor(), project, id)
	})
	if err != nil {
		return functions.Job{}, err
	}
	return s.jobs.GetJob(ctx, project, id)
}

// beginErase marks an ended job, whose row is locked, as one that is being deleted. It is the last thing that a transaction does.
func (s *Service) beginErase(ctx context.Context, tx *store.Tx, by string, project, id uuid.UUID) error {
	if _, err := store.Exec(ctx, tx, sql.BeginErase, id, by); err != nil {
		return err
	}
	if err := base.Audit(ctx, tx, by, "job.delete", id.String(), nil); err != nil {
		return err
	}
	if err := base.Notify(ctx, tx, base.ChannelJobs, id); err != nil {
		return err
	}
	runs, err := store.Values[uuid.UUID](ctx, tx, sql.RunsThatWait, id)
	if err != nil {
		return err
	}
	steps := []functions.Step{stepargs.EraseArgs{Project: project, Job: id}}
	for _, run := range runs {
		steps = append(steps, stepargs.AdvanceRunArgs{Project: project, Run: run})
	}
	return s.env.Enqueue(ctx, tx, steps...)
}

// Erase removes the rows of a deleted job, so many in one transaction, and the job's own when nothing else refers to it. Cut off anywhere it
// continues with what is left. Objects are collected as all are that nothing refers to.
func (s *Service) Erase(ctx context.Context, args stepargs.EraseArgs) error {
	mine := base.NewSlice()
	for more := true; more; {
		err := s.env.Project(ctx, args.Project, func(tx *store.Tx) (err error) {
			more, err = s.erasePart(ctx, tx, args)
			return err
		})
		if err != nil {
			return fmt.Errorf("deleting job %s: %w", args.Job, err)
		}
		if err := mine.Over(); err != nil && more {
			return err
		}
	}
	return nil
}

// erasePart does one transaction's share, in the order in which all steps lock rows, and says whether anything is left.
func (s *Service) erasePart(ctx context.Context, tx *store.Tx, args stepargs.EraseArgs) (more bool, err error) {
	page, found, err := store.Value[int64](ctx, tx, sql.NextErasedPage, args.Job)
	if err != nil {
		return false, err
	}
	if found {
		return true, erasePage(ctx, tx, args.Job, page)
	}
	if more, err := eraseLeases(ctx, tx, args.Job); err != nil || more {
		return more, err
	}
	if _, found, err := store.Value[int64](ctx, tx, sql.EraseIncidents, args.Job, eraseBatch); err != nil || found {
		return true, err
	}
	if n, _, err := store.Value[int64](ctx, tx, sql.EraseRest, args.Job, eraseBatch); err != nil || n > 0 {
		return true, err
	}
	return s.eraseJob(ctx, tx, args)
}

func erasePage(ctx context.Context, tx *store.Tx, job uuid.UUID, page int64) error {
	from := page * int64(partition.PageSize)
	if _, err := store.Exec(ctx, tx, sql.EraseShards, job, from, from+int64(partition.PageSize)); err != nil {
		return err
	}
	_, err := store.Exec(ctx, tx, sql.ErasePage, job, from, from+int64(partition.PageSize), page)
	return err
}

// eraseLeases also ends what a cancelled job had still lent.
func eraseLeases(ctx context.Context, tx *store.Tx, job uuid.UUID) (more bool, err error) {
	type lease struct {
		ID   uuid.UUID
		Open bool
	}
	gone, err := store.Many[lease](ctx, tx, sql.EraseLeases, job, eraseLeaseBatch)
	if err != nil || len(gone) == 0 {
		return false, err
	}
	var open []uuid.UUID
	for _, l := range gone {
		if l.Open {
			open = append(open, l.ID)
		}
	}
	if len(open) == 0 {
		return true, nil
	}
	server, err := tx.AsServer(ctx)
	if err != nil {
		return true, err
	}
	_, err = store.Exec(ctx, server, store.EndLease, open)
	return true, err
}

// eraseJob removes the job's row, unless something came to it until the row was locked.
func (s *Service) eraseJob(ctx context.Context, tx *store.Tx, args stepargs.EraseArgs) (more bool, err error) {
	if _, found, err := store.Value[functions.JobState](ctx, tx, sql.LockJobToErase, args.Job); err != nil || !found {
		return false, err
	}
	if n, _, err := store.Value[int64](ctx, tx, sql.EraseRest, args.Job, eraseBatch); err != nil || n > 0 {
		return true, err
	}
	type kept struct{ Results, Events int64 }
	had, _, err := store.One[kept](ctx, tx, sql.EraseJob, args.Job)
	if err != nil {
		return false, err
	}
	server, err := tx.AsServer(ctx)
	if err != nil {
		return false, err
	}
	if _, err := store.Exec(ctx, server, sql.UncountKept, args.Project, had.Results, had.Events); err != nil {
		return false, err
	}
	return false, s.env.Queue.Enqueue(ctx, server, stepargs.EraseArgs{Project: args.Project, Job: args.Job, Once: time.Now().Add(EraseOnceMore)})
}
