package aggregation

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/aggregation/sql"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/wasm"
)

// MaxFoldTries is how often in a row the module of an aggregation may ask for another try (it exits with 75) before that counts as a failure
// of its own, and the job is held: with the queue's growing pauses that is about half a minute. A page that it folds meanwhile ends the row.
const MaxFoldTries = 5

// tryFoldingAgain notes what keeps an aggregation from going on, where job explain finds it, and has the queue try again. A module that asks
// for that again and again has failed.
func (s *Service) tryFoldingAgain(ctx context.Context, project, job uuid.UUID, f FoldingRow, module *wasm.Error, err error) error {
	asked := 0
	if module.Class == wasm.ClassExit {
		asked = 1
	}
	tries := 0
	noted := s.env.Project(ctx, project, func(tx *store.Tx) error {
		_, on, failed := lockFolding(ctx, tx, job, f.Run)
		if failed != nil || !on {
			return failed
		}
		tries, _, failed = store.Value[int](ctx, tx, sql.NoteTrouble, job, f.Run, err.Error(), asked)
		return failed
	})
	if noted != nil {
		return fmt.Errorf("noting why job %s is not folded: %w", job, noted)
	}
	if asked > 0 && tries >= MaxFoldTries {
		why := fmt.Sprintf("the aggregator failed: it has asked for another try %d times in a row: %v", tries, err)
		return s.failAggregation(ctx, project, job, f, why, registry.RunOf(err))
	}
	return fmt.Errorf("job %s: %w", job, err)
}

// Trouble is what keeps the aggregation of a job from going on.
type Trouble struct {
	Text   string
	Tries  int
	Module string
}

// Explain puts it before the other reasons, instead of those that say no more than that the job is folded.
func (t Trouble) Explain(e *functions.Explanation, job uuid.UUID) {
	if t.Text == "" {
		return
	}
	often := ""
	if t.Tries > 0 {
		often = fmt.Sprintf(" (it has asked for another try %d of %d times)", t.Tries, MaxFoldTries)
	}
	others := slices.DeleteFunc(e.Reasons, func(r functions.Reason) bool { return r.Code == "settling" || r.Code == "aggregating" })
	e.Reasons = append([]functions.Reason{{
		Code: "folding_again", Text: fmt.Sprintf("The aggregator %s could not fold results, and is tried again%s: %s", t.Module, often, t.Text),
		Hint: "ostraka module runs " + t.Module + " --failed --job " + job.String() + " shows what it was given",
	}}, others...)
}
