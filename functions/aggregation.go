package functions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/wasm"
)

// AggregationState is where an aggregation stands.
type AggregationState string

// The states of an aggregation.
const (
	AggregationFolding  AggregationState = "folding"
	AggregationFinished AggregationState = "finished"
	AggregationFailed   AggregationState = "failed" // its module is at fault; error says how
)

// Aggregation is one folding of a job's results with one module.
type Aggregation struct {
	Run         int              `json:"run" doc:"1 is the aggregation that the job was submitted with."`
	Current     bool             `json:"current" doc:"Whether the job shows this one's answer."`
	Aggregator  *AggregatorRef   `json:"aggregator,omitempty"`
	State       AggregationState `json:"state" enum:"folding,finished,failed"`
	Error       string           `json:"error,omitempty"`
	PagesFolded int64            `json:"pages_folded"`
	PagesTotal  int64            `json:"pages_total"`
	Aggregate   *Aggregate       `json:"aggregate,omitempty"`
	CreatedBy   string           `json:"created_by"`
	CreatedAt   time.Time        `json:"created_at"`
	FinishedAt  *time.Time       `json:"finished_at,omitempty"`
}

// answerRow is the answer of an aggregation, or the preview of one.
type answerRow struct {
	AggregateValue   []byte
	AggregateObject  *string
	AggregateCount   *int64
	AggregateSummary string
	LeftOut          int64
	AggregateRows    []byte
	RowsObject       *string
	PreviewValue     []byte
	PreviewCount     *int64
	PreviewPages     *int64
	PreviewAt        *time.Time
}

// aggregate is nil where there is neither an answer nor a preview.
func (r answerRow) aggregate(pagesTotal int64) *Aggregate {
	a := &Aggregate{Value: json.RawMessage("null"), Summary: r.AggregateSummary, LeftOut: r.LeftOut, Rows: r.AggregateRows}
	switch {
	case r.AggregateCount != nil:
		a.Count = *r.AggregateCount
		if r.AggregateValue != nil {
			a.Value = r.AggregateValue
		}
		if r.AggregateObject != nil {
			a.Object = *r.AggregateObject
		}
		if r.RowsObject != nil {
			a.RowsObject = *r.RowsObject
		}
	case r.PreviewCount != nil && r.PreviewPages != nil && r.PreviewAt != nil:
		a.Preview = &Preview{Value: r.PreviewValue, Count: *r.PreviewCount, Share: float64(*r.PreviewPages) / float64(pagesTotal), At: *r.PreviewAt}
	default:
		return nil
	}
	return a
}

// foldingRow is what the steps of an aggregation need to know of it.
type foldingRow struct {
	Run         int
	Aggregator  *AggregatorRef
	State       AggregationState
	PagesFolded int64
	Current     bool
	JobState    JobState
	ShardsTotal int64
	PagesTotal  int64
}

// goesOn says whether there is still something to fold for. A run that was asked for when the job had ended goes on by itself.
func (f foldingRow) goesOn() bool {
	return f.State == AggregationFolding && (!f.Current || !f.JobState.Ended())
}

// lockFolding locks the job and reads one of its aggregations; run 0 is the current one. found is false when there is nothing to do
// any more.
func lockFolding(ctx context.Context, tx *store.Tx, job uuid.UUID, run int) (f foldingRow, found bool, err error) {
	if _, found, err := store.Value[JobState](ctx, tx, store.LockJob, job); err != nil || !found {
		return f, false, err
	}
	f, found, err = store.One[foldingRow](ctx, tx, store.GetFolding, job, run)
	return f, found && f.goesOn(), err
}

// aggregation is the module of an aggregation, ready to fold.
func (s *Service) aggregation(project, job uuid.UUID, ref AggregatorRef) wasm.Aggregation {
	return wasm.Aggregation{Use: wasm.Use{Pool: s.modules, Project: project.String(), Job: job.String(), Module: s.pinnedModule(project, ref.Digest), Params: ref.Params}}
}

// watchedAggregation is the module of an aggregation at one of its steps, and what it runs there. Level is that of the partial that
// it makes.
func (s *Service) watchedAggregation(project, job uuid.UUID, f foldingRow, level int, step string) (wasm.Aggregation, *moduleRuns) {
	runs := s.watch(moduleUse{project: project, job: job, module: f.Aggregator.Module, digest: f.Aggregator.Digest, aggregation: f.Run, step: step})
	fold := s.aggregation(project, job, *f.Aggregator)
	fold.Watch, fold.MaxPartial = runs.ran, maxPartial(f.PagesTotal, level)
	return fold, runs
}

// moduleFailed ends an aggregation whose module is at fault; the job is held when nothing else is left to do, and goes on with
// another aggregation. Everything else is tried again by the queue.
func (s *Service) moduleFailed(ctx context.Context, project, job uuid.UUID, f foldingRow, err error) error {
	var module *wasm.Error
	if !errors.As(err, &module) {
		return fmt.Errorf("job %s: %w", job, err)
	}
	if module.Operational() {
		return s.tryFoldingAgain(ctx, project, job, f, module, err)
	}
	s.log.Info("the aggregator of a job failed", "project", project, "job", job, "run", f.Run, "class", module.Class)
	return s.failAggregation(ctx, project, job, f, "the aggregator failed: "+err.Error(), runOf(err))
}

// failAggregation ends an aggregation; run is the run of its module that failed, if one did.
func (s *Service) failAggregation(ctx context.Context, project, job uuid.UUID, f foldingRow, why string, run *uuid.UUID) error {
	err := s.project(ctx, project, func(tx *store.Tx) error {
		if _, on, err := lockFolding(ctx, tx, job, f.Run); err != nil || !on {
			return err
		}
		if _, err := store.Exec(ctx, tx, store.FailAggregation, job, f.Run, why); err != nil {
			return err
		}
		detail := map[string]any{"run": f.Run, "error": why}
		if f.Aggregator != nil {
			detail["module"] = f.Aggregator.Module
		}
		if run != nil {
			detail["module_run"] = run.String()
		}
		if err := addEvent(ctx, tx, job, EventAggregationFailed, detail); err != nil {
			return err
		}
		return placeJob(ctx, tx, job)
	})
	if err != nil {
		return fmt.Errorf("ending aggregation %d of job %s: %w", f.Run, job, err)
	}
	return nil
}

// ListAggregations lists the aggregations of a job in the order in which they were asked for; the cursor is the last run.
func (s *Service) ListAggregations(ctx context.Context, project, job uuid.UUID, page ListPage) (list []Aggregation, err error) {
	after, err := afterNumber(page)
	if err != nil {
		return nil, err
	}
	type row struct {
		answerRow
		Run         int
		Current     bool
		Aggregator  *AggregatorRef
		State       AggregationState
		Error       string
		PagesFolded int64
		PagesTotal  int64
		CreatedBy   string
		CreatedAt   time.Time
		FinishedAt  *time.Time
	}
	err = s.project(ctx, project, func(tx *store.Tx) error {
		if _, found, err := store.Value[partition.Spec](ctx, tx, store.GetPartition, job); err != nil || !found {
			return orNotFound(err, "job", job)
		}
		rows, err := store.Many[row](ctx, tx, store.ListAggregations, job, max(after, 0), limit(page))
		list = make([]Aggregation, len(rows))
		for i, r := range rows {
			list[i] = Aggregation{
				Run: r.Run, Current: r.Current, Aggregator: r.Aggregator, State: r.State, Error: r.Error, PagesFolded: r.PagesFolded, PagesTotal: r.PagesTotal,
				Aggregate: r.aggregate(r.PagesTotal), CreatedBy: r.CreatedBy, CreatedAt: r.CreatedAt, FinishedAt: r.FinishedAt,
			}
		}
		return err
	})
	return list, err
}
