package workflow

import (
	"context"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/workflow/graph"
	"github.com/ostraka/ostraka/functions/workflow/sql"
)

// beginFold has the results of another step's job folded again. The step knows which of the job's aggregations is its own from the
// same transaction on, so that there is one only.
func (s *Service) beginFold(ctx context.Context, project uuid.UUID, v view, number int, values graph.Values) error {
	step := v.definition.Steps[number]
	params, err := step.FoldParams(values)
	if err != nil {
		return badWorkflow(err)
	}
	of := v.steps[v.definition.Number(step.Fold.Of)]
	if of.JobID == nil {
		return jobGone(of)
	}
	fold, err := s.aggregation.PrepareFold(ctx, project, step.Fold.Aggregator, params, v.Modules)
	if err != nil {
		return err
	}
	return s.revise(ctx, project, v, func(tx *store.Tx) error {
		intent := base.Intent{Step: stepargs.AdvanceRunArgs{}.Kind(), Project: project}
		run, err := s.aggregation.BeginFold(ctx, tx, intent, *of.JobID, fold, v.actor())
		if err != nil {
			return err
		}
		if _, err := store.Exec(ctx, tx, sql.BeginFold, v.ID, number, of.JobID, run); err != nil {
			return err
		}
		return s.env.Enqueue(ctx, tx, stepargs.RefoldArgs{Project: project, Job: *of.JobID, Run: run})
	})
}

// jobGone says that a step has no results any more, or had nothing to do.
func jobGone(row stepRow) error {
	return functions.NotFound("job of step", row.Name)
}

// foldAnswer is what a fold came to.
func (s *Service) foldAnswer(ctx context.Context, project uuid.UUID, row stepRow) (a functions.Aggregate, err error) {
	type answer struct {
		Value  []byte
		Object *string
	}
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		got, found, err := store.One[answer](ctx, tx, sql.GetFold, row.JobID, row.Fold)
		if err != nil || !found {
			return base.OrNotFound(err, "job", row.JobID)
		}
		a.Value = got.Value
		if got.Object != nil {
			a.Object = *got.Object
		}
		return nil
	})
	return a, err
}
