package workflow

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/workflow/graph"
	"github.com/ostraka/ostraka/functions/workflow/sql"
	"github.com/ostraka/ostraka/guardian"
)

type lockedRun struct {
	State    graph.RunState
	Revision int64
	Workflow string
}

func lock(ctx context.Context, tx *store.Tx, id uuid.UUID) (lockedRun, error) {
	r, found, err := store.One[lockedRun](ctx, tx, sql.LockRun, id)
	if err != nil || !found {
		return r, base.OrNotFound(err, "workflow run", id)
	}
	return r, nil
}

// PauseWorkflowRun has no further step of a run begin. Jobs that are under way go on. Pausing twice is harmless.
func (s *Service) PauseWorkflowRun(ctx context.Context, by functions.Principal, project, id uuid.UUID) (RunDetail, error) {
	return s.change(ctx, project, id, graph.RunPaused, func(tx *store.Tx, r lockedRun) error {
		if err := s.env.Ask(ctx, tx, stopIntent(by, project, r.Workflow)); err != nil {
			return err
		}
		return base.Audit(ctx, tx, by.Actor(), "workflow.pause", id.String(), nil)
	})
}

// ResumeWorkflowRun lets the steps of a paused run begin again. Resuming twice is harmless.
func (s *Service) ResumeWorkflowRun(ctx context.Context, by functions.Principal, project, id uuid.UUID) (RunDetail, error) {
	return s.change(ctx, project, id, graph.RunRunning, func(tx *store.Tx, _ lockedRun) error {
		run, _, err := store.One[runRow](ctx, tx, sql.GetRun, id)
		if err != nil {
			return err
		}
		d, err := readPinned(run.Definition, run.Files)
		if err != nil {
			return err
		}
		facts := guardian.WorkflowFacts{Workflow: factsOf(d, run.Version, run.Digest, run.Functions)}
		intent := base.Intent{By: by, Project: project, Kind: guardian.WorkflowStart, Subject: run.Workflow, Facts: facts, Asked: map[string]any{"resume": id}}
		if err := s.env.Ask(ctx, tx, intent); err != nil {
			return err
		}
		if err := s.restartPace(ctx, tx, id, d); err != nil {
			return err
		}
		return base.Audit(ctx, tx, by.Actor(), "workflow.resume", id.String(), nil)
	})
}

// CancelWorkflowRun ends a run: no further step begins, and its jobs are cancelled. Cancelling twice is harmless.
func (s *Service) CancelWorkflowRun(ctx context.Context, by functions.Principal, project, id uuid.UUID) (RunDetail, error) {
	return s.change(ctx, project, id, graph.RunCancelled, func(tx *store.Tx, r lockedRun) error {
		if err := s.env.Ask(ctx, tx, stopIntent(by, project, r.Workflow)); err != nil {
			return err
		}
		return base.Audit(ctx, tx, by.Actor(), "workflow.cancel", id.String(), nil)
	})
}

// StopRun cancels a run for a step of the server. One that has ended, or is gone, needs nothing.
func (s *Service) StopRun(ctx context.Context, i base.Intent, id uuid.UUID, actor string) error {
	_, err := s.change(ctx, i.Project, id, graph.RunCancelled, func(tx *store.Tx, r lockedRun) error {
		i.Kind, i.Subject, i.Facts = guardian.JobCancel, "workflow:"+r.Workflow, guardian.JobFacts{}
		if err := s.env.Ask(ctx, tx, i); err != nil {
			return err
		}
		return base.Audit(ctx, tx, actor, "workflow.cancel", id.String(), nil)
	})
	var ended *functions.Error
	if errors.As(err, &ended) && ended.Code == runEndedCode || missing(err) {
		return nil
	}
	return err
}

// stopIntent is what takes steps away from a run, in the words of the guardian: as stopping a job, no project's rule keeps people from it.
func stopIntent(by functions.Principal, project uuid.UUID, workflow string) base.Intent {
	return base.Intent{By: by, Project: project, Kind: guardian.JobCancel, Subject: "workflow:" + workflow, Facts: guardian.JobFacts{}}
}

// change brings a run that has not ended into another state, after do, and has the server go on with it.
func (s *Service) change(ctx context.Context, project, id uuid.UUID, to graph.RunState, do func(tx *store.Tx, r lockedRun) error) (RunDetail, error) {
	err := s.env.Project(ctx, project, func(tx *store.Tx) error {
		r, err := lock(ctx, tx, id)
		if err != nil || r.State == to {
			return err
		}
		if r.State.Ended() {
			return runEnded(id, r)
		}
		if err := do(tx, r); err != nil {
			return err
		}
		if _, err := store.Exec(ctx, tx, sql.MoveRun, id, to, ""); err != nil {
			return err
		}
		return s.env.Enqueue(ctx, tx, stepargs.AdvanceRunArgs{Project: project, Run: id})
	})
	if err != nil {
		return RunDetail{}, err
	}
	return s.GetWorkflowRun(ctx, project, id)
}

// DeleteWorkflowRun deletes a run that has ended. Its jobs stay.
func (s *Service) DeleteWorkflowRun(ctx context.Context, by functions.Principal, project, id uuid.UUID) error {
	return s.env.Project(ctx, project, func(tx *store.Tx) error {
		r, err := lock(ctx, tx, id)
		if err != nil {
			return err
		}
		running, _, err := store.Value[int64](ctx, tx, sql.CountRunningSteps, id)
		if err != nil {
			return err
		}
		if !r.State.Ended() || running > 0 { // of a cancelled one the jobs are still to be cancelled
			return &functions.Error{
				Kind: functions.KindConflict, Code: "workflow_runs", Message: fmt.Sprintf("the run %s is %s, and %s under way", id, r.State, base.Plural(running, "job of it is", "jobs of it are")),
				Hint: "wait for it, or cancel it: ostraka workflow cancel " + id.String(),
			}
		}
		if err := s.env.Ask(ctx, tx, deleteIntent(by, project, "workflow_run", id.String())); err != nil {
			return err
		}
		if _, err := store.Exec(ctx, tx, sql.DeleteRun, id); err != nil {
			return err
		}
		return base.Audit(ctx, tx, by.Actor(), "workflow_run.delete", id.String(), map[string]any{"workflow": r.Workflow})
	})
}
