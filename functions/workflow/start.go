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
	"github.com/ostraka/ostraka/functions/submit"
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
		return s.StartRun(ctx, tx, base.Intent{By: by, Project: project}, id, start, submit.Submitter{Actor: by.Actor(), WantedBy: by.Actor()})
	})
	if err != nil {
		return r, false, fmt.Errorf("starting the workflow %s: %w", start.Workflow, err)
	}
	r, err = s.GetWorkflowRun(ctx, project, id)
	return r, replayed, err
}

// LockWorkflows has two that start or push at once do so one after the other. Who locks more locks this first.
func (s *Service) LockWorkflows(ctx context.Context, tx *store.Tx) error {
	_, err := store.Exec(ctx, tx, sql.LockWorkflows)
	return err
}

// CheckStart refuses a run that could not be started now, and returns its parameters with the defaults in them.
func (s *Service) CheckStart(ctx context.Context, by functions.Principal, project uuid.UUID, start Start) (parameters json.RawMessage, err error) {
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		_, parameters, err = checkStart(ctx, tx, by, start)
		return err
	})
	return parameters, err
}

func checkStart(ctx context.Context, tx *store.Tx, by functions.Principal, start Start) (w Workflow, parameters json.RawMessage, err error) {
	if w, err = getWorkflow(ctx, tx, start.Workflow, start.Version); err != nil {
		return w, nil, err
	}
	values, err := w.Definition.Values(start.Parameters)
	if err != nil {
		return w, nil, badParameters(err)
	}
	if err := w.Definition.Jobs(values); err != nil {
		return w, nil, badParameters(err)
	}
	for _, step := range w.Definition.Steps {
		if _, err := dispatch.CheckPriority(by, step.Map.Priority); err != nil {
			return w, nil, err
		}
	}
	if parameters, err = json.Marshal(values); err != nil {
		return w, nil, fmt.Errorf("encoding the parameters: %w", err)
	}
	if len(parameters) > MaxParametersBytes {
		return w, nil, functions.Invalid("bad_parameters", fmt.Sprintf("parameters: they have %d bytes of JSON together, and the limit is %d", len(parameters), MaxParametersBytes), "choose shorter values")
	}
	return w, parameters, nil
}

// StartRun starts a run in a transaction of others, after the guardian was asked; i says who does, or which step. It leaves the project's role.
func (s *Service) StartRun(ctx context.Context, tx *store.Tx, i base.Intent, id uuid.UUID, start Start, by submit.Submitter) error {
	if err := s.LockWorkflows(ctx, tx); err != nil {
		return err
	}
	w, parameters, err := checkStart(ctx, tx, i.By, start)
	if err != nil {
		return err
	}
	if err := within(ctx, tx, sql.CountOpenRuns, MaxOpenRuns, "too_many_workflow_runs", "a project has at most %d runs of workflows that have not ended", "wait for one to end, or cancel one"); err != nil {
		return err
	}
	i.Kind, i.Subject, i.Asked = guardian.WorkflowStart, w.Name, map[string]any{"parameters": parameters}
	i.Facts = guardian.WorkflowFacts{Workflow: factsOf(w.Definition, w.Version, w.Digest, w.Functions)}
	if err := s.env.Ask(ctx, tx, i); err != nil {
		return err
	}
	if _, err := store.Exec(ctx, tx, sql.ForgetOldRuns, MaxKeptRuns, forgottenAtOnce); err != nil {
		return err
	}
	if _, err := store.Exec(ctx, tx, sql.AddRun, id, w.id, w.Version, []byte(parameters), by.WantedBy); err != nil {
		return err
	}
	if _, err := store.Exec(ctx, tx, sql.AddSteps, id, names(w.Definition)); err != nil {
		return err
	}
	if err := base.Audit(ctx, tx, by.Actor, "workflow.start", id.String(), map[string]any{"workflow": w.Name, "version": w.Version, "digest": w.Digest}); err != nil {
		return err
	}
	return s.env.Enqueue(ctx, tx, stepargs.AdvanceRunArgs{Project: i.Project, Run: id})
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
