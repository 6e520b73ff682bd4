package archive

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/archive/sql"
	"github.com/ostraka/ostraka/functions/store"
)

const (
	// archiveBatch is how many jobs of one project one run has become archives; the next run continues.
	archiveBatch = 100
	// archiveActor is who archives jobs that are old enough.
	archiveActor = "server:retention"
)

// ArchiveOld has jobs become archives that ended longer ago than their project leaves them as they are.
func (s *Service) ArchiveOld(ctx context.Context) error {
	type project struct {
		ID   uuid.UUID
		Days int
	}
	var projects []project
	err := s.env.Control(ctx, func(tx pgx.Tx) (err error) {
		projects, err = store.Many[project](ctx, tx, sql.ProjectsThatArchive, s.days)
		return err
	})
	if err != nil {
		return fmt.Errorf("listing projects that archive jobs: %w", err)
	}
	var all error
	for _, p := range projects { // one that cannot be written must not keep the others
		if err := s.archiveOld(ctx, p.ID, time.Duration(p.Days)*24*time.Hour); err != nil {
			all = errors.Join(all, fmt.Errorf("archiving old jobs of project %s: %w", p.ID, err))
		}
	}
	return all
}

// DaysOf is after how many days ended jobs of a project become archives; 0: never.
func (s *Service) DaysOf(ctx context.Context, tx pgx.Tx, project uuid.UUID) (int, error) {
	days, found, err := store.Value[int](ctx, tx, sql.DaysOf, project, s.days)
	if err == nil && !found {
		err = functions.NotFound("project", project.String())
	}
	return days, err
}

func (s *Service) archiveOld(ctx context.Context, project uuid.UUID, after time.Duration) error {
	var old []uuid.UUID
	err := s.env.Project(ctx, project, func(tx *store.Tx) (err error) {
		old, err = store.Values[uuid.UUID](ctx, tx, sql.JobsToArchive, after, archiveBatch)
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
		err := s.env.Project(ctx, project, func(tx *store.Tx) error { return s.archiveOne(ctx, tx, project, job) })
		if err != nil {
			all = errors.Join(all, fmt.Errorf("job %s: %w", job, err))
		}
	}
	return all
}

// archiveOne leaves a job alone that runs again, is being deleted, or waits for somebody.
func (s *Service) archiveOne(ctx context.Context, tx *store.Tx, project, job uuid.UUID) error {
	state, found, err := store.Value[functions.JobState](ctx, tx, store.LockJob, job)
	if err != nil || !found || !state.Ended() || state == functions.JobDeleting {
		return err
	}
	if err := mayArchive(ctx, tx, job); err != nil {
		if errors.Is(err, ErrWaits) {
			return nil
		}
		return err
	}
	_, err = s.begin(ctx, tx, archiveActor, project, job)
	return err
}
