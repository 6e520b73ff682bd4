package functions

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/functions/store"
)

const (
	// MaxRecheckSeconds is the largest budget of a project, in seconds a day: what a thousand servers can do.
	MaxRecheckSeconds = 1000 * 24 * 60 * 60
	// recheckSpentFor is how long it is remembered what was spent on a day.
	recheckSpentFor = 35 * 24 * time.Hour
)

// errBudgetSpent ends a run as the end of its slice does: what was begun is finished, and the rest waits.
var errBudgetSpent = fmt.Errorf("the project has spent its seconds of the servers: %w", errSliceEnd)

// RecheckBudget is how long servers may execute a project's shards on one day, which begins at midnight (UTC).
type RecheckBudget struct {
	PerDay int64   `json:"per_day" doc:"Seconds of all servers together; 0: as many as there are."`
	Spent  float64 `json:"spent" doc:"Seconds, today."`
	Left   float64 `json:"left" doc:"Seconds, today; 0 where there is no budget."`
}

// spent says whether nothing is left.
func (b RecheckBudget) spent() bool { return b.PerDay > 0 && b.Left <= 0 }

// time is how long servers may go on.
func (b RecheckBudget) time() time.Duration {
	if b.PerDay == 0 {
		return math.MaxInt64
	}
	return time.Duration(b.Left * float64(time.Second))
}

// readRecheckBudget reads it as the server's role.
func (s *Service) readRecheckBudget(ctx context.Context, db store.DB, project uuid.UUID) (b RecheckBudget, err error) {
	type row struct {
		PerDay int64
		Spent  float64
	}
	r, _, err := store.One[row](ctx, db, store.RecheckBudget, project, s.recheckTime)
	b.PerDay, b.Spent = r.PerDay, r.Spent
	if b.PerDay > 0 {
		b.Left = max(0, float64(b.PerDay)-b.Spent)
	}
	return b, err
}

// planRechecks says what a job's rechecks would take, where it is known, and what the project has left.
func (s *Service) planRechecks(ctx context.Context, project uuid.UUID, plan plannedJob, p *JobPlan) error {
	err := s.project(ctx, project, func(tx *store.Tx) error {
		mean, _, err := store.Value[*float64](ctx, tx, store.MeanShard, plan.function, plan.version)
		if err == nil && mean != nil {
			p.RecheckSeconds = new(*mean * p.Forecast.Rechecks)
		}
		return err
	})
	if err != nil {
		return err
	}
	return s.control(ctx, func(tx pgx.Tx) (err error) {
		p.RecheckBudget, err = s.readRecheckBudget(ctx, tx, project)
		return err
	})
}

// checkRecheckSeconds says whether a project's budget may be set so.
func checkRecheckSeconds(by Principal, seconds *int64) error {
	switch {
	case seconds == nil:
		return nil
	case by.Role != RoleOperator:
		return operatorSets("budget of server seconds")
	case *seconds < 0 || *seconds > MaxRecheckSeconds:
		return Invalid("bad_recheck_seconds", fmt.Sprintf("%d seconds a day", *seconds), fmt.Sprintf("choose 1 to %d, or 0 for what the server says", MaxRecheckSeconds))
	default:
		return nil
	}
}

// explain says that rechecks wait since the budget is spent.
func (b RecheckBudget) explain(rechecks int64) Reason {
	return Reason{
		Code: "recheck_budget",
		Text: fmt.Sprintf("%s: the project has spent the %d s a day for which servers execute its shards. They go on at midnight (UTC).",
			many(rechecks, "recheck waits", "rechecks wait"), b.PerDay),
		Hint: fmt.Sprintf("a job with a target error asks further agents instead after %v; ostraka project set --recheck-seconds, by an operator, gives the project more", RecheckerGone),
	}
}
