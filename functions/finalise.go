package functions

import (
	"context"
	"fmt"

	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/store"
)

// finalPage is a page with results that have become final.
type finalPage struct {
	Number      int64
	Provisional int
}

// Finalise makes results final, a page at a time.
func (s *Service) Finalise(ctx context.Context, args FinaliseArgs) error {
	mine := newSlice()
	for more := true; more; {
		err := s.project(ctx, args.Project, func(tx *store.Tx) error {
			page, found, err := store.One[finalPage](ctx, tx, store.FinalisePage, args.Job, args.Agent, args.Window, int64(partition.PageSize))
			more = found
			if err != nil || page.Provisional > 0 { // where nothing was found, another run may have been cut off before the next step
				return err
			}
			steps, err := drain(ctx, tx, args.Project, args.Job)
			if err != nil {
				return err
			}
			return s.enqueue(ctx, tx, steps...)
		})
		if err != nil {
			return fmt.Errorf("making window %d of agent %s in job %s final: %w", args.Window, args.Agent, args.Job, err)
		}
		if err := mine.over(); err != nil && more {
			return err
		}
	}
	return nil
}
