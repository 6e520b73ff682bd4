package jobs

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/jobs/sql"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
)

// Finish ends a job: finished when every shard was accepted, failed when some were not. The answer over those that were accepted
// stands either way.
func (s *Service) Finish(ctx context.Context, args stepargs.FinishArgs) error {
	err := s.env.Project(ctx, args.Project, func(tx *store.Tx) error {
		// Remaining leases are obsolete. They come before the job in the order of locks.
		leases, err := store.Values[uuid.UUID](ctx, tx, sql.EndJobLeases, args.Job)
		if err != nil {
			return err
		}
		state, found, err := store.Value[functions.JobState](ctx, tx, store.LockJob, args.Job)
		if err != nil {
			return err
		}
		if !found || state != functions.JobAggregating {
			return errGoesOn
		}
		row, _, err := store.One[Row](ctx, tx, store.GetJob, args.Job)
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
			return s.endJob(ctx, tx, args.Project, args.Job, functions.JobFailed, why, leases, stepargs.FollowUpArgs(args))
		}
		return s.endJob(ctx, tx, args.Project, args.Job, functions.JobFinished, "", leases, stepargs.FollowUpArgs(args))
	})
	if err != nil && !errors.Is(err, errGoesOn) {
		return fmt.Errorf("finishing job %s: %w", args.Job, err)
	}
	return nil
}

// errGoesOn takes back what was ended of a job that another run of the step has ended, that somebody has cancelled, or that continues.
var errGoesOn = errors.New("the job is not to be finished")
