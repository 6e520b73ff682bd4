package workflow

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/workflow/graph"
	"github.com/ostraka/ostraka/functions/workflow/sql"
	"github.com/ostraka/ostraka/guardian"
)

// ExtendWorkflowRun moves the end of the range of a rolling step on, which is an integer or an expression of one; step "": of all rolling
// steps that the run has, so that they continue over the same range. Extending twice to the same end is harmless.
func (s *Service) ExtendWorkflowRun(ctx context.Context, by functions.Principal, project, id uuid.UUID, step, to string) (RunDetail, error) {
	end, err := graph.Integer("to", to)
	if err != nil {
		return RunDetail{}, badParameters(err)
	}
	return s.changeRolling(ctx, by, project, id, step, "extend", map[string]any{"to": end.String()}, func(tx *store.Tx, v view, r *rolling) error {
		if end.Cmp(r.at.To) < 0 {
			return functions.Invalid("bad_parameters", fmt.Sprintf("to: the range of step %s ends at %s already", v.steps[r.Number].Name, r.at.To), "name a later end")
		}
		if err := r.at.CheckEnd("to", end); err != nil {
			return badParameters(err)
		}
		_, err := store.Exec(ctx, tx, sql.ExtendRolling, id, r.Number, end.String())
		return err
	})
}

// RetryWorkflowRun has the holes of a rolling step tried again, by new jobs; step "": of all rolling steps.
func (s *Service) RetryWorkflowRun(ctx context.Context, by functions.Principal, project, id uuid.UUID, step string) (RunDetail, error) {
	return s.changeRolling(ctx, by, project, id, step, "retry", map[string]any{}, func(tx *store.Tx, _ view, r *rolling) error {
		_, err := store.Exec(ctx, tx, sql.RetryParts, id, r.Number)
		return err
	})
}

// changeRolling changes rolling steps of a run that are under way, and has the server go on with it.
func (s *Service) changeRolling(ctx context.Context, by functions.Principal, project, id uuid.UUID, step, verb string, asked map[string]any, do func(tx *store.Tx, v view, r *rolling) error) (RunDetail, error) {
	err := s.env.Project(ctx, project, func(tx *store.Tx) error {
		locked, err := lock(ctx, tx, id)
		if err != nil {
			return err
		}
		if locked.State.Ended() {
			return runEnded(id, locked)
		}
		v, err := readView(ctx, tx, id)
		if err != nil {
			return err
		}
		list, err := v.rollingSteps(step)
		if err != nil {
			return err
		}
		for _, r := range list {
			if err := do(tx, v, r); err != nil {
				return err
			}
		}
		if asked[verb] = id; step != "" {
			asked["step"] = step
		}
		facts := guardian.WorkflowFacts{Workflow: factsOf(v.definition, v.Version, v.Digest, v.Functions)}
		if err := s.env.Ask(ctx, tx, base.Intent{By: by, Project: project, Kind: guardian.WorkflowStart, Subject: v.Workflow, Facts: facts, Asked: asked}); err != nil {
			return err
		}
		if err := base.Audit(ctx, tx, by.Actor(), "workflow."+verb, id.String(), asked); err != nil {
			return err
		}
		if _, err := store.Exec(ctx, tx, sql.MoveRun, id, v.State, ""); err != nil {
			return err
		}
		return s.env.Enqueue(ctx, tx, stepargs.AdvanceRunArgs{Project: project, Run: id})
	})
	if err != nil {
		return RunDetail{}, err
	}
	return s.GetWorkflowRun(ctx, project, id)
}

// runEndedCode is the code of what is too late for a run.
const runEndedCode = "workflow_run_ended"

func runEnded(id uuid.UUID, r lockedRun) error {
	return &functions.Error{Kind: functions.KindConflict, Code: runEndedCode, Message: fmt.Sprintf("the run %s is %s", id, r.State), Hint: "start another one: ostraka workflow start " + r.Workflow}
}

// rollingSteps are the rolling steps that are under way, or the one of that name.
func (v view) rollingSteps(name string) (list []*rolling, err error) {
	for number, step := range v.definition.Steps {
		if !step.Rolling() || name != "" && !v.definition.Rolls(number, name) {
			continue
		}
		r := v.rolling[number]
		if r == nil || v.steps[number].State != graph.StepRunning {
			return nil, &functions.Error{
				Kind: functions.KindConflict, Code: "step_not_running", Message: fmt.Sprintf("the step %s is %s", step.Name, v.steps[number].State),
				Hint: "a rolling step is changed while it runs; start another run for what lies beyond it",
			}
		}
		list = append(list, r)
	}
	if len(list) == 0 {
		return nil, functions.Invalid("no_rolling_step", "the run has no rolling step of that name", "ostraka workflow run shows the steps; leave the name out for all that roll")
	}
	return list, nil
}

// restartPace has the pace of rolling steps begin anew: the run stood still.
func (s *Service) restartPace(ctx context.Context, tx *store.Tx, run uuid.UUID, d *graph.Definition) error {
	all, err := readRolling(ctx, tx, run, d)
	if err != nil {
		return err
	}
	for number, r := range all {
		marks, err := json.Marshal([]graph.Mark{{At: s.env.Now().UTC(), Done: new(big.Int).Set(r.at.Done())}})
		if err != nil {
			return fmt.Errorf("encoding the pace: %w", err)
		}
		if _, err := store.Exec(ctx, tx, sql.MarkRolling, run, number, marks); err != nil {
			return err
		}
	}
	return nil
}
