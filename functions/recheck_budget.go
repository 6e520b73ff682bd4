package functions

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions/store"
)

// recheckSpentFor is how long it is remembered what was spent on a day.
const recheckSpentFor = 35 * 24 * time.Hour

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

// explain says that rechecks wait since the budget is spent.
func (b RecheckBudget) explain(rechecks int64) Reason {
	return Reason{
		Code: "recheck_budget",
		Text: fmt.Sprintf("%s: the project has spent the %d s a day for which servers execute its shards. They go on at midnight (UTC).",
			many(rechecks, "recheck waits", "rechecks wait"), b.PerDay),
		Hint: fmt.Sprintf("a job with a target error asks further agents instead after %v; ostraka project set --recheck-seconds, by an operator, gives the project more", RecheckerGone),
	}
}
