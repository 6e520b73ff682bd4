package workflow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/dispatch"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/workflow/graph"
	"github.com/ostraka/ostraka/functions/workflow/sql"
	"github.com/ostraka/ostraka/guardian"
)

// Start says what a run is to be.
type Start struct {
	Workflow   string
	Version    int                        // 0: the newest
	Parameters map[string]json.RawMessage // what is left out has its default
}

// StartWorkflow starts a run of a workflow. It keeps to the version, and so to the digests of all functions, whatever is pushed later.
func (s *Service) StartWorkflow(ctx context.Context, by functions.Principal, project uuid.UUID, start Start, idem functions.Idempotency) (r RunDetail, replayed bool, err error) {
	id := base.NewID()
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		if id, replayed, err = base.RememberInProject(ctx, tx, project, "start-workflow", idem, id); err != nil || replayed {
			return err
		}
		return s.start(ctx, tx, by, project, id, start)
	})
	if err != nil {
		return r, false, fmt.Errorf("starting the workflow %s: %w", start.Workflow, err)
	}
	r, err = s.GetWorkflowRun(ctx, project, id)
	return r, replayed, err
}

func (s *Service) start(ctx context.Context, tx *store.Tx, by functions.Principal, project, id uuid.UUID, start Start) error {
	if _, err := store.Exec(ctx, tx, sql.LockWorkflows); err != nil {
		return err
	}
	w, err := getWorkflow(ctx, tx, start.Workflow, start.Version)
	if err != nil {
		return err
	}
	values, err := w.Definition.Values(start.Parameters)
	if err != nil {
		return badParameters(err)
	}
	if err := w.Definition.Jobs(values); err != nil {
		return badParameters(err)
	}
	for _, step := range w.Definition.Steps {
		if _, err := dispatch.CheckPriority(by, step.Map.Priority); err != nil {
			return err
		}
	}
	parameters, err := json.Marshal(values)
	if err != nil {
		return fmt.Errorf("encoding the parameters: %w", err)
	}
	if len(parameters) > MaxParametersBytes {
		return functions.Invalid("bad_parameters", fmt.Sprintf("parameters: they have %d bytes of JSON together, and the limit is %d", len(parameters), MaxParametersBytes), "choose shorter values")
	}
	if err := within(ctx, tx, sql.CountOpenRuns, MaxOpenRuns, "too_many_workflow_runs", "a project has at most %d runs of workflows that have not ended", "wait for one to end, or cancel one"); err != nil {
		return err
	}
	facts := guardian.WorkflowFacts{Workflow: factsOf(w.Definition, w.Version, w.Digest, w.Functions)}
	intent := base.Intent{By: by, Project: project, Kind: guardian.WorkflowStart, Subject: w.Name, Facts: facts, Asked: map[string]any{"parameters": json.RawMessage(parameters)}}
	if err := s.env.Ask(ctx, tx, intent); err != nil {
		return err
	}
	if _, err := store.Exec(ctx, tx, sql.ForgetOldRuns, MaxKeptRuns, forgottenAtOnce); err != nil {
		return err
	}
	if _, err := store.Exec(ctx, tx, sql.AddRun, id, w.id, w.Version, parameters, by.Actor()); err != nil {
		return err
	}
	if _, err := store.Exec(ctx, tx, sql.AddSteps, id, names(w.Definition)); err != nil {
		return err
	}
	if err := base.Audit(ctx, tx, by.Actor(), "workflow.start", id.String(), map[string]any{"workflow": w.Name, "version": w.Version, "digest": w.Digest}); err != nil {
		return err
	}
	return s.env.Enqueue(ctx, tx, stepargs.AdvanceRunArgs{Project: project, Run: id})
}

func names(d *graph.Definition) []string {
	list := make([]string, len(d.Steps))
	for i, step := range d.Steps {
		list[i] = step.Name
	}
	return list
}

// badParameters turns a mistake in a run's parameters into an error for the person who starts it.
func badParameters(err error) error {
	var wrong *graph.Error
	if errors.As(err, &wrong) {
		return functions.Invalid("bad_parameters", wrong.Field+": "+wrong.Detail, wrong.Hint)
	}
	return err
}
