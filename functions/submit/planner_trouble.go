package submit

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/planner"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/wasm"
)

// badPlan is an answer that a planner may not give.
type badPlan struct{ text string }

func (b *badPlan) Error() string { return b.text }

// plannerFailed keeps why a planner has not answered. What is not its fault is tried again by the queue, and so is a module that asks for that,
// some times; the rest is told, and waits for a person.
func (s *Service) plannerFailed(ctx context.Context, project uuid.UUID, parent functions.Job, finished planner.Finished, ask planner.Ask, c chain, r reply, failure error) error {
	module, isModule := errors.AsType[*wasm.Error](failure)
	_, isPlan := errors.AsType[*badPlan](failure)
	if ctx.Err() != nil || !isModule && !isPlan {
		return failure
	}
	tries := 0
	if isModule && module.Class == wasm.ClassExit && module.Operational() {
		tries = c.kept.Tries + 1
	}
	again := isModule && module.Operational() && tries < planner.MaxPlannerTries
	outcome := outcomeFailed
	if again {
		outcome = outcomeTrying
	}
	err := s.env.Project(ctx, project, func(tx *store.Tx) error {
		if _, _, err := store.Value[functions.JobState](ctx, tx, store.LockJob, parent.ID); err != nil {
			return err
		}
		n, err := s.writePlan(ctx, tx, parent, finished, ask, outcome, failure.Error(), r, nil, nil, registry.RunOf(failure), tries)
		if err != nil || n == 0 || again {
			return err
		}
		detail := map[string]any{
			"rule": ask.Rule.Name, "planner": ask.Rule.Then.Planner, "error": registry.ShortText(failure.Error(), maxDecisionDetail),
			"hint": "push a mended version of the module, or correct the rule, and then: ostraka job follow-up " + parent.ID.String(),
		}
		if run := registry.RunOf(failure); run != nil {
			detail["module_run"] = run
		}
		return base.AddEvent(ctx, tx, parent.ID, base.EventPlannerFailed, detail)
	})
	if err != nil {
		return fmt.Errorf("keeping why the planner of rule %s failed: %w", ask.Rule.Name, err)
	}
	if again {
		return fmt.Errorf("asking the planner of rule %s: %w", ask.Rule.Name, failure)
	}
	return nil
}
