package workflow

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/workflow/sql"
	"github.com/ostraka/ostraka/guardian"
)

// GetWorkflow returns a version of a workflow; version 0 is the newest.
func (s *Service) GetWorkflow(ctx context.Context, project uuid.UUID, name string, version int) (w Workflow, err error) {
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		w, err = getWorkflow(ctx, tx, name, version)
		return err
	})
	return w, err
}

func getWorkflow(ctx context.Context, tx *store.Tx, name string, version int) (Workflow, error) {
	row, found, err := store.One[workflowRow](ctx, tx, sql.GetWorkflow, name, version)
	if err != nil {
		return Workflow{}, err
	}
	if !found && version > 0 {
		return Workflow{}, functions.NotFound("workflow version", fmt.Sprintf("%s@%d", name, version))
	}
	if !found {
		return Workflow{}, functions.NotFound("workflow", name)
	}
	return row.workflow()
}

// ListWorkflows lists the newest version of each workflow, by name.
func (s *Service) ListWorkflows(ctx context.Context, project uuid.UUID, page functions.ListPage) (list []Workflow, err error) {
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		rows, err := store.Many[workflowRow](ctx, tx, sql.ListWorkflows, page.After, base.PageLimit(page))
		if err != nil {
			return err
		}
		list = make([]Workflow, len(rows))
		for i, r := range rows {
			if list[i], err = r.workflow(); err != nil {
				return err
			}
		}
		return nil
	})
	return list, err
}

// DeleteWorkflow deletes a workflow with all its versions, runs, rules and schedules, when its newest version is still the one that the caller has read.
// One with a run that has not ended stays. Functions, and jobs of runs, are not deleted.
func (s *Service) DeleteWorkflow(ctx context.Context, by functions.Principal, project uuid.UUID, name string, newest int64) error {
	return s.env.Project(ctx, project, func(tx *store.Tx) error {
		if _, err := store.Exec(ctx, tx, sql.LockWorkflows); err != nil {
			return err
		}
		w, err := getWorkflow(ctx, tx, name, 0)
		if err != nil {
			return err
		}
		if int64(w.Newest) != newest {
			return functions.ErrRevision
		}
		if w.OpenRuns > 0 {
			return &functions.Error{
				Kind: functions.KindConflict, Code: "workflow_runs", Message: fmt.Sprintf("the workflow %s has %s not ended", name, base.Plural(w.OpenRuns, "run that has", "runs that have")),
				Hint: "wait for it, or cancel it: ostraka workflow runs " + name,
			}
		}
		if err := s.env.Ask(ctx, tx, deleteIntent(by, project, "workflow", name)); err != nil {
			return err
		}
		if err := s.submit.SyncRules(ctx, tx, by, project, w.id, nil); err != nil {
			return err
		}
		if err := base.Audit(ctx, tx, by.Actor(), "workflow.delete", name, map[string]any{"newest": w.Newest}); err != nil {
			return err
		}
		if _, err := store.Exec(ctx, tx, sql.DeleteWorkflow, w.id); err != nil {
			return err
		}
		return s.schedules(ctx, tx, by, project, w.id, name, nil, false)
	})
}

func deleteIntent(by functions.Principal, project uuid.UUID, what, name string) base.Intent {
	return base.Intent{By: by, Project: project, Kind: guardian.DataDelete, Subject: name, Facts: guardian.DataFacts{Data: guardian.Data{Type: what, Name: name}}}
}
