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

const (
	// MaxAggregations is how many aggregations one job may have: each keeps its partials.
	MaxAggregations = 100
	// refoldPages is how many pages one step hands on, so that one of ten thousand pages stays short.
	refoldPages = 500
)

// NewAggregation asks for a further aggregation of a job. Zero fields take what the current one has; a module of the project is taken
// in its newest version.
type NewAggregation struct {
	Module string
	Params json.RawMessage
}

// Reaggregate folds a job's accepted results again, with another module or a fixed version of the same. No shard runs again.
// A job that is held continues with it; one that has ended keeps its answer until the new one stands, and the old one after that.
func (s *Service) Reaggregate(ctx context.Context, by functions.Principal, project, job uuid.UUID, want NewAggregation, idem functions.Idempotency) (functions.Job, bool, error) {
	ref, err := s.nextAggregator(ctx, project, job, want)
	if err != nil {
		return functions.Job{}, false, err
	}
	var aggregator []byte
	if ref != nil {
		if aggregator, err = json.Marshal(ref); err != nil {
			return functions.Job{}, false, fmt.Errorf("encoding the aggregator: %w", err)
		}
	}
	replayed := false
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		// A job that was held goes on since an earlier request with this key, and would refuse this one: the key is looked up first.
		if _, replayed, err = base.RememberInProject(ctx, tx, job, "reaggregate", idem, base.NewID()); err != nil || replayed {
			return err
		}
		state, found, err := store.Value[functions.JobState](ctx, tx, store.LockJob, job)
		if err != nil || !found || state == functions.JobDeleting {
			return base.OrNotFound(err, "job", job)
		}
		if err := base.NotArchived(ctx, tx, job); err != nil {
			return err
		}
		current, found, err := store.One[FoldingRow](ctx, tx, store.GetFolding, job, 0)
		if err != nil || !found {
			return base.OrNotFound(err, "job", job)
		}
		if err := mayReaggregate(ctx, tx, job, state, current); err != nil {
			return err
		}
		facts, err := jobs.Facts(ctx, tx, job)
		if err != nil {
			return err
		}
		if ref != nil {
			facts.Job.Aggregator = ref.Module
		}
		intent := base.Intent{By: by, Project: project, Kind: guardian.JobAggregate, Subject: job.String(), Facts: facts, Asked: ref}
		if err := s.env.Ask(ctx, tx, intent); err != nil {
			return err
		}
		run, _, err := store.Value[int](ctx, tx, store.AddAggregation, job, aggregator, by.Actor())
		if err != nil {
			return err
		}
		if run > MaxAggregations {
			return tooManyAggregations(job)
		}
		if !state.Ended() {
			if _, err := store.Exec(ctx, tx, sql.ChooseRun, job, run); err != nil {
				return err
			}
			if err := jobs.Place(ctx, tx, job); err != nil {
				return err
			}
		}
		detail := map[string]any{"run": run, "aggregator": ref}
		if err := base.AddEvent(ctx, tx, job, base.EventReaggregating, detail); err != nil {
			return err
		}
		if err := base.Audit(ctx, tx, by.Actor(), "job.reaggregate", job.String(), detail); err != nil {
			return err
		}
		server, err := tx.AsServer(ctx)
		if err != nil {
			return err
		}
		return s.env.Queue.Enqueue(ctx, server, stepargs.RefoldArgs{Project: project, Job: job, Run: run})
	})
	if err != nil {
		return functions.Job{}, false, fmt.Errorf("aggregating job %s again: %w", job, err)
	}
	j, err := s.jobs.GetJob(ctx, project, job)
	return j, replayed, err
}

// nextAggregator pins the module that was asked for.
func (s *Service) nextAggregator(ctx context.Context, project, job uuid.UUID, want NewAggregation) (*functions.AggregatorRef, error) {
	var current FoldingRow
	err := s.env.Project(ctx, project, func(tx *store.Tx) error {
		var found bool
		var err error
		if current, found, err = store.One[FoldingRow](ctx, tx, store.GetFolding, job, 0); err == nil && !found {
			err = base.OrNotFound(nil, "job", job)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	switch {
	case want.Module == "" && current.Aggregator == nil:
		return nil, functions.Invalid("bad_aggregator", "the job folds nothing, and no aggregator is named", "name an aggregator")
	case want.Module == "":
		want.Module = current.Aggregator.Module
		fallthrough
	case current.Aggregator != nil && want.Module == current.Aggregator.Module:
		if want.Params == nil {
			want.Params = current.Aggregator.Params
		}
	}
	ref, err := s.registry.ChooseAggregator(ctx, project, functions.NewJob{Aggregator: want.Module, Params: want.Params}, bundle.Manifest{})
	if err != nil {
		return nil, err
	}
	return ref, s.registry.TryAggregator(ctx, project, ref)
}

// mayReaggregate says why not, if so.
func mayReaggregate(ctx context.Context, tx *store.Tx, job uuid.UUID, state functions.JobState, current FoldingRow) error {
	if !state.Ended() && current.State != functions.AggregationFailed {
		return &functions.Error{Kind: functions.KindConflict, Code: "aggregating", Message: fmt.Sprintf("job %s is %s, and its aggregator works", job, state), Hint: "wait for the job to end: ostraka job watch " + job.String()}
	}
	if !state.Ended() {
		return nil
	}
	missing, _, err := store.Value[int64](ctx, tx, sql.CountUnsettledPages, job)
	if err != nil {
		return err
	}
	if state == functions.JobCancelled || missing > 0 {
		return &functions.Error{Kind: functions.KindConflict, Code: "not_settled", Message: fmt.Sprintf("job %s is %s, and not all of its shards were settled", job, state), Hint: "read what was accepted with ostraka job results, or submit the job again"}
	}
	return nil
}

// Refold enqueues the folds of the pages that are settled; those that are settled later are folded by the current aggregation anyway.
func (s *Service) Refold(ctx context.Context, args stepargs.RefoldArgs) error {
	err := s.env.Project(ctx, args.Project, func(tx *store.Tx) error {
		pages, err := store.Values[int64](ctx, tx, sql.SettledPages, args.Job, args.From, refoldPages)
		if err != nil {
			return err
		}
		steps := make([]functions.Step, 0, len(pages)+1)
		for _, page := range pages {
			steps = append(steps, stepargs.AggregateArgs{Project: args.Project, Job: args.Job, Page: page, Run: args.Run})
		}
		if len(pages) == refoldPages {
			args.From = pages[len(pages)-1] + 1
			steps = append(steps, args)
		}
		return s.env.Enqueue(ctx, tx, steps...)
	})
	if err != nil {
		return fmt.Errorf("having job %s folded again: %w", args.Job, err)
	}
	return nil
}
