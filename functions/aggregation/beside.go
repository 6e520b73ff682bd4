package aggregation

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/aggregation/sql"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/guardian"
	"github.com/ostraka/ostraka/runtime/bundle"
)

// Fold is a further aggregation of a job beside its answer, for a step of a workflow.
type Fold struct {
	ref     *functions.AggregatorRef
	encoded []byte
}

// PrepareFold pins and tries the module of a fold, and makes nothing.
func (s *Service) PrepareFold(ctx context.Context, project uuid.UUID, module string, params json.RawMessage, pins functions.ModulePins) (f Fold, err error) {
	want := functions.NewJob{Aggregator: module, Params: params, Modules: pins}
	if f.ref, err = s.registry.ChooseAggregator(ctx, project, want, bundle.Manifest{}); err != nil {
		return f, err
	}
	if err := s.registry.TryAggregator(ctx, project, f.ref); err != nil {
		return f, err
	}
	if f.encoded, err = json.Marshal(f.ref); err != nil {
		return f, fmt.Errorf("encoding the aggregator: %w", err)
	}
	return f, nil
}

// BeginFold begins a fold of a job that has ended, and says which of its aggregations it is. RefoldArgs must be enqueued in the same
// transaction.
func (s *Service) BeginFold(ctx context.Context, tx *store.Tx, i base.Intent, job uuid.UUID, f Fold, actor string) (run int, err error) {
	state, found, err := store.Value[functions.JobState](ctx, tx, store.LockJob, job)
	if err != nil || !found || state == functions.JobDeleting {
		return 0, base.OrNotFound(err, "job", job)
	}
	current, found, err := store.One[FoldingRow](ctx, tx, store.GetFolding, job, 0)
	if err != nil || !found {
		return 0, base.OrNotFound(err, "job", job)
	}
	if err := mayReaggregate(ctx, tx, job, state, current); err != nil {
		return 0, err
	}
	facts, err := jobs.Facts(ctx, tx, job)
	if err != nil {
		return 0, err
	}
	facts.Job.Aggregator = f.ref.Module
	i.Kind, i.Subject, i.Facts, i.Asked = guardian.JobAggregate, job.String(), facts, f.ref
	if err := s.env.Ask(ctx, tx, i); err != nil {
		return 0, err
	}
	if run, _, err = store.Value[int](ctx, tx, sql.AddBeside, job, f.encoded, actor); err != nil {
		return 0, err
	}
	if run > MaxAggregations {
		return 0, tooManyAggregations(job)
	}
	detail := map[string]any{"run": run, "aggregator": f.ref}
	if err := base.AddEvent(ctx, tx, job, base.EventReaggregating, detail); err != nil {
		return 0, err
	}
	return run, base.Audit(ctx, tx, actor, "job.reaggregate", job.String(), detail)
}

// StopFold ends a fold that is no longer needed. One that has ended stays as it is.
func (s *Service) StopFold(ctx context.Context, project, job uuid.UUID, run int, why string) error {
	return s.failAggregation(ctx, project, job, FoldingRow{Run: run, Beside: true}, why, nil)
}

// goOnAfterFold has the run of a workflow go on that waits for a fold. It is the last thing that a transaction does.
func (s *Service) goOnAfterFold(ctx context.Context, tx *store.Tx, project, job uuid.UUID, run int) error {
	runs, err := store.Values[uuid.UUID](ctx, tx, sql.RunsOfFold, job, run)
	if err != nil {
		return err
	}
	steps := make([]functions.Step, len(runs))
	for i, id := range runs {
		steps[i] = stepargs.AdvanceRunArgs{Project: project, Run: id}
	}
	return s.env.Enqueue(ctx, tx, steps...)
}

func tooManyAggregations(job uuid.UUID) error {
	return &functions.Error{Kind: functions.KindConflict, Code: "too_many_aggregations", Message: fmt.Sprintf("job %s has %d aggregations already", job, MaxAggregations), Hint: "submit the function as a new job"}
}
