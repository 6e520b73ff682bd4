package jobs

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/jobs/sql"
	"github.com/ostraka/ostraka/functions/store"
)

// Finish ends a job: finished when every shard was accepted, failed when some were not. The answer over those that were accepted
// stands either way.
func (s *Service) Finish(ctx context.Context, args functions.FinishArgs) error {
	err := s.env.Project(ctx, args.Project, func(tx *store.Tx) error {
		state, found, err := store.Value[functions.JobState](ctx, tx, store.LockJob, args.Job)
		if err != nil || !found || state != functions.JobAggregating {
			return err // another run of the step has ended it, or somebody has cancelled it
		}
		row, _, err := store.One[Row](ctx, tx, store.GetJob, args.Job)
		if err != nil {
			return err
		}
		// Remaining leases are obsolete. No shard is open, so ending them cannot contend for the job's lock.
		leases, err := store.Values[uuid.UUID](ctx, tx, sql.EndJobLeases, args.Job)
		if err != nil {
			return err
		}
		if err := reportShare(ctx, tx, row.Job()); err != nil {
			return err
		}
		if row.Failed > 0 {
			why, err := failuresOf(ctx, tx, args.Job, row.Failed, row.ShardsTotal)
			if err != nil {
				return err
			}
			return s.endJob(ctx, tx, args.Project, args.Job, functions.JobFailed, why, leases, functions.FollowUpArgs(args))
		}
		return s.endJob(ctx, tx, args.Project, args.Job, functions.JobFinished, "", leases, functions.FollowUpArgs(args))
	})
	if err != nil {
		return fmt.Errorf("finishing job %s: %w", args.Job, err)
	}
	return nil
}
