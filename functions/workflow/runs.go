package workflow

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/workflow/graph"
	"github.com/ostraka/ostraka/functions/workflow/sql"
)

// RunFilter says which runs to list; zero fields: all.
type RunFilter struct {
	Workflow string
	State    graph.RunState
}

// ListWorkflowRuns lists runs, the newest first.
func (s *Service) ListWorkflowRuns(ctx context.Context, project uuid.UUID, filter RunFilter, page functions.ListPage) (list []Run, err error) {
	var before *uuid.UUID
	if page.After != "" {
		id, err := base.AfterID(page)
		if err != nil {
			return nil, err
		}
		before = &id
	}
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		rows, err := store.Many[runRow](ctx, tx, sql.ListRuns, before, filter.Workflow, filter.State, base.PageLimit(page))
		list = make([]Run, len(rows))
		for i, r := range rows {
			list[i] = r.run()
		}
		return err
	})
	return list, err
}

// view is a run as it stands, with its steps.
type view struct {
	runRow
	definition *graph.Definition
	steps      []stepRow
	rolling    map[int]*rolling // by the numbers of steps
	bisections bisections
}

func (s *Service) view(ctx context.Context, project, id uuid.UUID) (v view, found bool, err error) {
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		v, err = readView(ctx, tx, id)
		return err
	})
	if missing(err) {
		return v, false, nil
	}
	return v, err == nil, err
}

func readView(ctx context.Context, tx *store.Tx, id uuid.UUID) (v view, err error) {
	var found bool
	if v.runRow, found, err = store.One[runRow](ctx, tx, sql.GetRun, id); err != nil || !found {
		return v, base.OrNotFound(err, "workflow run", id)
	}
	if v.definition, err = readPinned(v.Definition, v.Files); err != nil {
		return v, err
	}
	if v.steps, err = store.Many[stepRow](ctx, tx, sql.ListSteps, id); err != nil {
		return v, err
	}
	if v.rolling, err = readRolling(ctx, tx, id, v.definition); err != nil {
		return v, err
	}
	v.hold()
	v.bisections, err = readBisections(ctx, tx, id, v.definition)
	return v, err
}

// GetWorkflowRun returns a run with its steps, and what their jobs have come to.
func (s *Service) GetWorkflowRun(ctx context.Context, project, id uuid.UUID) (RunDetail, error) {
	v, found, err := s.view(ctx, project, id)
	if err != nil || !found {
		return RunDetail{}, base.OrNotFound(err, "workflow run", id)
	}
	d := RunDetail{Run: v.run(), Steps: make([]RunStep, len(v.steps))}
	for i, row := range v.steps {
		if d.Steps[i], err = s.shown(ctx, project, v.definition.Steps[i], row); err != nil {
			return d, err
		}
		if r := v.rolling[i]; r != nil {
			d.Steps[i].Rolling = r.progress(row.State, s.env.Now())
		}
		d.Steps[i].Bisection = v.bisection(i)
	}
	return d, nil
}

// shown is a step with what its job has come to. One whose job was deleted meanwhile is shown without.
func (s *Service) shown(ctx context.Context, project uuid.UUID, of graph.Step, row stepRow) (RunStep, error) {
	step := RunStep{
		Name: row.Name, Type: of.Type, Needs: append([]string{}, of.Needs...), Function: of.Runs(), State: row.State, Error: row.Error,
		Fold: row.Fold, Document: row.Document, StartedAt: row.StartedAt, EndedAt: row.EndedAt,
	}
	if row.JobID == nil {
		return step, nil
	}
	job, err := s.jobs.GetJob(ctx, project, *row.JobID)
	var gone *functions.Error
	if errors.As(err, &gone) && (gone.Kind == functions.KindGone || gone.Kind == functions.KindNotFound) {
		return step, nil
	}
	step.JobID, step.JobState, step.Shards, step.Approval = row.JobID, job.State, &job.Shards, job.Approval
	return step, err
}
