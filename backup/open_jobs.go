package backup

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/migrations"
)

// maxOpenJobs bounds how many open jobs are named; all are counted.
const maxOpenJobs = 20

// OpenJob is a job that had not ended when a backup was made.
type OpenJob struct {
	Project uuid.UUID
	Job     uuid.UUID
}

// OpenJobs are the jobs of a restored database that are open and whose audits are drawn: the first of them, and how many there are. Those of them
// that ended before the loss have receipts, which show the secret by which the rest would be drawn.
func OpenJobs(ctx context.Context, url string, projects []uuid.UUID) (some []OpenJob, all int64, err error) {
	db, err := connect(ctx, url)
	if err != nil {
		return nil, 0, err
	}
	defer db.Close()
	type row struct {
		ID   uuid.UUID
		Open int64
	}
	for _, project := range projects {
		err := pgx.BeginTxFunc(ctx, db, pgx.TxOptions{AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, "set local search_path = "+migrations.ProjectSchema(project)); err != nil {
				return fmt.Errorf("looking into the project's schema: %w", err)
			}
			rows, err := store.Many[row](ctx, tx, openJobs, maxOpenJobs)
			for i, r := range rows {
				if i == 0 {
					all += r.Open
				}
				if len(some) < maxOpenJobs {
					some = append(some, OpenJob{project, r.ID})
				}
			}
			return err
		})
		if err != nil {
			return some, all, fmt.Errorf("looking for open jobs of project %s: %w", project, err)
		}
	}
	return some, all, nil
}
