package tenant

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/tenant/sql"
)

// RecheckSpentFor is how long it is remembered what was spent on a day.
const RecheckSpentFor = 35 * 24 * time.Hour

// RecheckBudget is how long servers may execute a project's shards on one day, which begins at midnight (UTC).
type RecheckBudget struct {
	PerDay int64   `json:"per_day" doc:"Seconds of all servers together; 0: as many as there are."`
	Spent  float64 `json:"spent" doc:"Seconds, today."`
	Left   float64 `json:"left" doc:"Seconds, today; 0 where there is no budget."`
}

// IsSpent says whether nothing is left.
func (b RecheckBudget) IsSpent() bool { return b.PerDay > 0 && b.Left <= 0 }

// Time is how long servers may continue.
func (b RecheckBudget) Time() time.Duration {
	if b.PerDay == 0 {
		return math.MaxInt64
	}
	return time.Duration(b.Left * float64(time.Second))
}

// ReadRecheckBudget reads it as the server's role.
func (s *Service) ReadRecheckBudget(ctx context.Context, db store.DB, project uuid.UUID) (b RecheckBudget, err error) {
	type row struct {
		PerDay int64
		Spent  float64
	}
	r, _, err := store.One[row](ctx, db, sql.RecheckBudget, project, s.usual.Load().RecheckSeconds)
	b.PerDay, b.Spent = r.PerDay, r.Spent
	if b.PerDay > 0 {
		b.Left = max(0, float64(b.PerDay)-b.Spent)
	}
	return b, err
}

// Explain says that rechecks wait since the budget is spent.
func (b RecheckBudget) Explain(rechecks int64) functions.Reason {
	return functions.Reason{
		Code: "recheck_budget",
		Text: fmt.Sprintf("%s: the project has spent the %d s a day for which servers execute its shards. They go on at midnight (UTC).",
			base.Plural(rechecks, "recheck waits", "rechecks wait"), b.PerDay),
		Hint: fmt.Sprintf("a job with a target error asks further agents instead after %v; ostraka project set --recheck-seconds, by an operator, gives the project more", functions.RecheckerGone),
	}
}
