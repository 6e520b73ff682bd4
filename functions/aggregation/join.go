package aggregation

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/aggregation/sql"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/wasm"
)

// JobFold is what the results of a finished job were folded to, short of the answer: it can be merged with that of another job.
type JobFold struct {
	Aggregator *functions.AggregatorRef // nil: nothing was folded
	Count      int64                    // results in it
	Accepted   int64                    // results that the job has
	Partials   []wasm.Partial           // in the order of the shards
}

// ReadFold reads the fold of a finished job.
func (s *Service) ReadFold(ctx context.Context, project, job uuid.UUID) (fold JobFold, err error) {
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		if err := base.NotDeleted(ctx, tx, job); err != nil {
			return err
		}
		f, found, err := store.One[FoldingRow](ctx, tx, store.GetFolding, job, 0)
		if err != nil || !found || f.Aggregator == nil {
			return err
		}
		top, width := treeTop(f.PagesTotal)
		listed, err := store.Many[partialDigest](ctx, tx, sql.PartialDigests, job, f.Run, top, 0, width)
		if err != nil {
			return err
		}
		if n := someOf(listed); n < len(listed) {
			return functions.Invalid("not_folded", fmt.Sprintf("the partials of job %s have more than %d bytes together", job, MaxPreviewBytes), "give jobs fewer shards, or let the aggregator keep less")
		}
		rows, err := store.Many[partialRow](ctx, tx, sql.ListPartials, job, f.Run, top, 0, width)
		if err != nil {
			return err
		}
		fold = JobFold{Aggregator: f.Aggregator, Count: countOf(listed), Partials: partialsOf(rows)}
		if fold.Accepted, _, err = store.Value[int64](ctx, tx, sql.CountAccepted, job); err != nil {
			return err
		}
		return stillThere(ctx, tx, job)
	})
	return fold, err
}

// stillThere refuses what was read of a job whose rows may have been on their way out then.
func stillThere(ctx context.Context, tx *store.Tx, job uuid.UUID) error {
	if err := base.NotDeleted(ctx, tx, job); err != nil {
		return err
	}
	return base.NotArchived(ctx, tx, job)
}

// Join merges folds of several jobs, in their order. Job is one of them, for the books of the module.
func (s *Service) Join(ctx context.Context, project, job uuid.UUID, with functions.AggregatorRef, folds []wasm.Partial) (wasm.Partial, error) {
	module := s.registry.Aggregation(project, job, with)
	for len(folds) > 1 {
		var merged []wasm.Partial
		for some := range slices.Chunk(folds, wasm.MergeFanIn) {
			p, _, err := module.Merge(ctx, wasm.Each(some))
			if err != nil {
				return nil, fmt.Errorf("merging the folds of several jobs: %w", err)
			}
			merged = append(merged, p)
		}
		folds = merged
	}
	if len(folds) == 0 {
		return nil, nil
	}
	return folds[0], nil
}

// AnswerOf makes the answer out of what Join has merged, and says how many results are in it.
func (s *Service) AnswerOf(ctx context.Context, project, job uuid.UUID, with functions.AggregatorRef, fold wasm.Partial) (json.RawMessage, int64, error) {
	var folds []wasm.Partial
	if len(fold) > 0 {
		folds = append(folds, fold)
	}
	final, _, err := s.registry.Aggregation(project, job, with).Final(ctx, wasm.Each(folds))
	if err != nil {
		return nil, 0, fmt.Errorf("making the answer of several jobs: %w", err)
	}
	return final.Value, final.N, nil
}
