package jobs

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/jobs/sql"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/store"
)

// Small says whether the transaction that makes a job makes its shards as well: there is one page of them at most, and their inputs are
// computed or at hand. Larger jobs take turns with others.
func Small(spec partition.Spec, shards int64, inputs []byte) bool {
	return shards <= partition.PageSize && (spec.Computed() || inputs != nil)
}

// SplitAtOnce makes all shards of a small job that tx has just made, and that no other transaction sees yet. inputs are its items, one a line; they
// are not read where the partition computes them.
func (s *Service) SplitAtOnce(ctx context.Context, tx *store.Tx, id uuid.UUID, inputs []byte) error {
	job, found, err := store.One[splitJob](ctx, tx, sql.LockJobForSplit, id)
	if err == nil && !found {
		err = functions.NotFound("job", id.String())
	}
	if err != nil {
		return fmt.Errorf("splitting job %s at once: %w", id, err)
	}
	if _, err := s.makeShards(ctx, tx, job, &splitSource{job: id, inputs: job.Partition.ReadItems(inputs)}); err != nil {
		return fmt.Errorf("splitting job %s at once: %w", id, err)
	}
	return base.Notify(ctx, tx, base.ChannelWork, tx.Project())
}
