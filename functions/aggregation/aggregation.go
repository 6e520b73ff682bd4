package aggregation

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/aggregation/sql"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/wasm"
)

// FoldingRow is what the steps of an aggregation need to know of it.
type FoldingRow struct {
	Run         int
	Aggregator  *functions.AggregatorRef
	State       functions.AggregationState
	PagesFolded int64
	Current     bool
	JobState    functions.JobState
	ShardsTotal int64
	PagesTotal  int64
	Beside      bool // it never becomes the answer that the job shows
}

// goesOn says whether there is still something to fold for. A run that was asked for when the job had ended goes on by itself.
func (f FoldingRow) goesOn() bool {
	return f.State == functions.AggregationFolding && (!f.Current || !f.JobState.Ended())
}

// lockFolding locks the job and reads one of its aggregations; run 0 is the current one. found is false when there is nothing to do
// any more.
func lockFolding(ctx context.Context, tx *store.Tx, job uuid.UUID, run int) (f FoldingRow, found bool, err error) {
	if _, found, err := store.Value[functions.JobState](ctx, tx, store.LockJob, job); err != nil || !found {
		return f, false, err
	}
	f, found, err = store.One[FoldingRow](ctx, tx, store.GetFolding, job, run)
	return f, found && f.goesOn(), err
}

// watchedAggregation is the module of an aggregation at one of its steps, and what it runs there. Level is that of the partial that
// it makes.
func (s *Service) watchedAggregation(project, job uuid.UUID, f FoldingRow, level int, step string) (wasm.Aggregation, *registry.ModuleRuns) {
	runs := s.registry.WatchModule(registry.ModuleUse{Project: project, Job: job, Module: f.Aggregator.Module, Digest: f.Aggregator.Digest, Aggregation: f.Run, Step: step})
	fold := s.registry.Aggregation(project, job, *f.Aggregator)
	fold.Watch, fold.MaxPartial = runs.Ran, maxPartial(f.PagesTotal, level)
	return fold, runs
}

// moduleFailed ends an aggregation whose module is at fault; the job is held when nothing else is left to do, and continues with
// another aggregation. Everything else is tried again by the queue.
func (s *Service) moduleFailed(ctx context.Context, project, job uuid.UUID, f FoldingRow, err error) error {
	var module *wasm.Error
	if !errors.As(err, &module) {
		return fmt.Errorf("job %s: %w", job, err)
	}
	if module.Operational() {
		return s.tryFoldingAgain(ctx, project, job, f, module, err)
	}
	s.env.Log.Info("the aggregator of a job failed", "project", project, "job", job, "run", f.Run, "class", module.Class)
	return s.failAggregation(ctx, project, job, f, "the aggregator failed: "+err.Error(), registry.RunOf(err))
}

// failAggregation ends an aggregation; run is the run of its module that failed, if one did.
func (s *Service) failAggregation(ctx context.Context, project, job uuid.UUID, f FoldingRow, why string, run *uuid.UUID) error {
	err := s.env.Project(ctx, project, func(tx *store.Tx) error {
		if _, on, err := lockFolding(ctx, tx, job, f.Run); err != nil || !on {
			return err
		}
		if _, err := store.Exec(ctx, tx, sql.FailAggregation, job, f.Run, why); err != nil {
			return err
		}
		detail := map[string]any{"run": f.Run, "error": why}
		if f.Aggregator != nil {
			detail["module"] = f.Aggregator.Module
		}
		if run != nil {
			detail["module_run"] = run.String()
		}
		if err := base.AddEvent(ctx, tx, job, base.EventAggregationFailed, detail); err != nil {
			return err
		}
		if f.Beside {
			return s.goOnAfterFold(ctx, tx, project, job, f.Run)
		}
		return jobs.Place(ctx, tx, job)
	})
	if err != nil {
		return fmt.Errorf("ending aggregation %d of job %s: %w", f.Run, job, err)
	}
	return nil
}

// ListAggregations lists the aggregations of a job in the order in which they were asked for; the cursor is the last run.
func (s *Service) ListAggregations(ctx context.Context, project, job uuid.UUID, page functions.ListPage) (list []functions.Aggregation, err error) {
	after, err := registry.AfterNumber(page)
	if err != nil {
		return nil, err
	}
	type row struct {
		jobs.AnswerRow
		Run         int
		Current     bool
		Aggregator  *functions.AggregatorRef
		State       functions.AggregationState
		Error       string
		PagesFolded int64
		PagesTotal  int64
		CreatedBy   string
		CreatedAt   time.Time
		FinishedAt  *time.Time
	}
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		if _, found, err := store.Value[partition.Spec](ctx, tx, store.GetPartition, job); err != nil || !found {
			return base.OrNotFound(err, "job", job)
		}
		rows, err := store.Many[row](ctx, tx, sql.ListAggregations, job, max(after, 0), base.PageLimit(page))
		list = make([]functions.Aggregation, len(rows))
		for i, r := range rows {
			list[i] = functions.Aggregation{
				Run: r.Run, Current: r.Current, Aggregator: r.Aggregator, State: r.State, Error: r.Error, PagesFolded: r.PagesFolded, PagesTotal: r.PagesTotal,
				Aggregate: r.Aggregate(r.PagesTotal), CreatedBy: r.CreatedBy, CreatedAt: r.CreatedAt, FinishedAt: r.FinishedAt,
			}
		}
		return err
	})
	return list, err
}
