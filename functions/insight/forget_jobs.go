package insight

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/insight/sql"
	"github.com/ostraka/ostraka/functions/store"
)

const (
	// forgetBatch is how many jobs of one project one run begins to delete, so that their rows do not all go at once; the next run continues.
	forgetBatch = 500
	// forgetActor is who deletes jobs that are too old.
	forgetActor = "server:retention"
)

// forgetJobs deletes the jobs that ended longer ago than their project keeps them.
func (s *Service) forgetJobs(ctx context.Context) error {
	type keeping struct {
		ID           uuid.UUID
		KeepJobsDays int
	}
	var projects []keeping
	err := s.env.Control(ctx, func(tx pgx.Tx) (err error) {
		projects, err = store.Many[keeping](ctx, tx, sql.ProjectsThatForget)
		return err
	})
	if err != nil {
		return fmt.Errorf("listing projects that forget jobs: %w", err)
	}
	var all error
	for _, p := range projects {
		if err := s.forgetOld(ctx, p.ID, time.Duration(p.KeepJobsDays)*24*time.Hour); err != nil { // the others get their turn all the same
			all = errors.Join(all, fmt.Errorf("deleting old jobs of project %s: %w", p.ID, err))
		}
	}
	return all
}

// forgetOld deletes runs of workflows, and begins to delete jobs, of a project that ended so long ago. One that cannot be deleted holds up no other.
func (s *Service) forgetOld(ctx context.Context, project uuid.UUID, after time.Duration) error {
	var old []uuid.UUID
	err := s.env.Project(ctx, project, func(tx *store.Tx) (err error) {
		if _, err := store.Exec(ctx, tx, sql.ForgetRuns, after, forgetBatch); err != nil {
			return err
		}
		old, err = store.Values[uuid.UUID](ctx, tx, sql.JobsToForget, after, forgetBatch)
		return err
	})
	if err != nil {
		return fmt.Errorf("listing them: %w", err)
	}
	var all error
	for _, job := range old {
		if ctx.Err() != nil { // the server stops: each of the others would fail alike
			return errors.Join(all, ctx.Err())
		}
		if err := s.env.Project(ctx, project, func(tx *store.Tx) error { return s.forgetJob(ctx, tx, project, job) }); err != nil {
			all = errors.Join(all, fmt.Errorf("job %s: %w", job, err))
		}
	}
	return all
}

// forgetJob leaves a job alone that runs again or is being deleted already.
func (s *Service) forgetJob(ctx context.Context, tx *store.Tx, project, job uuid.UUID) error {
	state, found, err := store.Value[functions.JobState](ctx, tx, store.LockJob, job)
	if err != nil || !found || !state.Ended() {
		return err
	}
	return s.beginErase(ctx, tx, forgetActor, project, job)
}
