package trust

import (
	"context"
	"fmt"

	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/trust/sql"
)

// finalPage is a page with results that have become final.
type finalPage struct {
	Number      int64
	Provisional int
}

// Finalise makes results final, a page at a time.
func (s *Service) Finalise(ctx context.Context, args stepargs.FinaliseArgs) error {
	mine := base.NewSlice()
	for more := true; more; {
		err := s.env.Project(ctx, args.Project, func(tx *store.Tx) error {
			page, found, err := store.One[finalPage](ctx, tx, sql.FinalisePage, args.Job, args.Agent, args.Window, int64(partition.PageSize))
			more = found
			if err != nil || page.Provisional > 0 { // where nothing was found, another run may have been cut off before the next step
				return err
			}
			steps, err := jobs.Drain(ctx, tx, args.Project, args.Job)
			if err != nil {
				return err
			}
			return s.env.Enqueue(ctx, tx, steps...)
		})
		if err != nil {
			return fmt.Errorf("making window %d of agent %s in job %s final: %w", args.Window, args.Agent, args.Job, err)
		}
		if err := mine.Over(); err != nil && more {
			return err
		}
	}
	return nil
}
