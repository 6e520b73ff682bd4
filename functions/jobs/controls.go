package jobs

import (
	"context"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/jobs/sql"
	"github.com/ostraka/ostraka/functions/store"
)

// readControls counts what became of a job's controls; nil: it brought none.
func readControls(ctx context.Context, tx *store.Tx, job uuid.UUID) (*functions.JobControls, error) {
	c, found, err := store.One[functions.JobControls](ctx, tx, sql.CountControls, job)
	if err != nil || !found {
		return nil, err
	}
	return &c, nil
}
