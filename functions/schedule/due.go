package schedule

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/schedule/sql"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
)

// dueAtOnce is how many schedules are taken up in one transaction.
const dueAtOnce = 500

// Due enqueues a step for each schedule of any project that is due. Each is in River from then on, and is not looked at again until that step
// has said when.
func (s *Service) Due(ctx context.Context, _ stepargs.DueSchedulesArgs) error {
	for {
		n, err := s.takeDue(ctx)
		if err != nil {
			return fmt.Errorf("taking up schedules that are due: %w", err)
		}
		if n < dueAtOnce {
			return nil
		}
	}
}

func (s *Service) takeDue(ctx context.Context) (n int, err error) {
	type dueRow struct {
		ProjectID  uuid.UUID
		ScheduleID uuid.UUID
	}
	err = s.env.Control(ctx, func(tx pgx.Tx) error {
		rows, err := store.Many[dueRow](ctx, tx, sql.TakeDue, dueAtOnce)
		if err != nil || len(rows) == 0 {
			return err
		}
		n = len(rows)
		steps := make([]functions.Step, n)
		for i, r := range rows {
			steps[i] = stepargs.FireScheduleArgs{Project: r.ProjectID, Schedule: r.ScheduleID}
		}
		return s.env.Queue.Enqueue(ctx, tx, steps...)
	})
	return n, err
}
