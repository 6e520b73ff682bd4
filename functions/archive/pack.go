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
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/migrations"
)

const (
	// DefaultPackAfter is how long an ended job's attempts stay rows: most that people and rules ask of them they ask at once, and rows answer
	// quicker for one shard.
	DefaultPackAfter = time.Hour
	// PackShards is how many shards a job has at least whose attempts are packed: below that nothing is gained. The index that they are
	// found by says so too.
	PackShards = 64
	// PackOutput is how many bytes an output has at most that is packed, and what is diagnosed beside it. Larger ones cost little more in a row,
	// and a page is unpacked as a whole.
	PackOutput = 1024
	// packMigration is the migration that a server must know to read packed attempts.
	packMigration = "packed_attempts"
	// packProjects is how many projects are listed at a time.
	packProjects = 100
	// packBatch is how many jobs of one project a run packs; the next run goes on.
	packBatch = 100
)

// Pack packs the attempts of jobs that ended a while ago, a page in each transaction: they take a sixth of the room. Cut off anywhere it goes on
// with the page where it was.
func (s *Service) Pack(ctx context.Context, _ stepargs.PackArgs) error {
	if may, err := s.mayPack(ctx); err != nil || !may {
		return err
	}
	mine := base.NewSlice()
	var all error
	for last, more := uuid.Nil, true; more; {
		var projects []uuid.UUID
		err := s.env.Control(ctx, func(tx pgx.Tx) (err error) {
			projects, err = store.Values[uuid.UUID](ctx, tx, store.ProjectIDs, last, packProjects)
			return err
		})
		if err != nil {
			return fmt.Errorf("listing projects whose attempts are packed: %w", err)
		}
		for _, project := range projects { // one whose attempts cannot be packed must not keep the others
			last = project
			var later *functions.Snooze
			err := s.packProject(ctx, mine, project)
			switch {
			case errors.As(err, &later) || ctx.Err() != nil:
				return err
			case err != nil:
				all = errors.Join(all, fmt.Errorf("packing attempts of project %s: %w", project, err))
			}
		}
		more = len(projects) == packProjects
	}
	return all
}

// mayPack says whether all servers read packed attempts, and from then on keeps those from starting that do not.
func (s *Service) mayPack(ctx context.Context) (may bool, err error) {
	needs, err := migrations.NumberInProject(packMigration)
	if err != nil {
		return false, err
	}
	err = s.env.Control(ctx, func(tx pgx.Tx) error {
		may, _, err = store.Value[bool](ctx, tx, sql.MayPack, needs)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("asking whether all servers read packed attempts: %w", err)
	}
	return may, nil
}

// packProject packs what there is in one project.
func (s *Service) packProject(ctx context.Context, mine base.Slice, project uuid.UUID) error {
	var ended []uuid.UUID
	err := s.env.Project(ctx, project, func(tx *store.Tx) (err error) {
		ended, err = store.Values[uuid.UUID](ctx, tx, sql.JobsToPack, s.packAfter, packBatch)
		return err
	})
	if err != nil {
		return err
	}
	var all error
	for _, job := range ended { // one that cannot be packed is the first of each run, and must not keep the others
		failed, err := s.packJob(ctx, mine, project, job)
		if all = errors.Join(all, failed); err != nil {
			return errors.Join(all, err)
		}
	}
	return all
}

// packJob packs what there is of one job. failed says why that cannot be done, err that the run is over.
func (s *Service) packJob(ctx context.Context, mine base.Slice, project, job uuid.UUID) (failed, err error) {
	for more := true; more; {
		failed = s.env.Project(ctx, project, func(tx *store.Tx) (err error) {
			more, err = packPage(ctx, tx, job)
			return err
		})
		if failed != nil {
			return fmt.Errorf("job %s: %w", job, failed), ctx.Err()
		}
		if err := mine.Over(); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// packPage packs the next page of a job, and says whether there was one.
func packPage(ctx context.Context, tx *store.Tx, job uuid.UUID) (bool, error) {
	page, found, err := store.Value[int64](ctx, tx, sql.PackNext, job)
	if err != nil || !found {
		return false, err
	}
	if _, err := store.Exec(ctx, tx, sql.PackPage, job, page, functions.ServerAgent, PackOutput); err != nil {
		return false, err
	}
	_, err = store.Exec(ctx, tx, sql.NotePacked, job, page)
	return true, err
}
