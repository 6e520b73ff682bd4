package functions

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/wasm"
)

// MergeArgs is the step that merges the folds of all pages into the answer.
type MergeArgs struct {
	Project uuid.UUID `json:"project"`
	Job     uuid.UUID `json:"job"`
}

// Kind names the step.
func (MergeArgs) Kind() string { return "merge" }

// MaxInlineAggregate is the largest answer that is kept in the job's row, in bytes; a larger one is an object.
const MaxInlineAggregate = 64 << 10

type partialRow struct {
	Number int64
	Count  int64
	Data   []byte
}

// Merge merges partials level by level, in fixed order, wasm.MergeFanIn at a time. Each merged partial is stored, so that a merge
// that was killed goes on where it was.
func (s *Service) Merge(ctx context.Context, args MergeArgs) error {
	var row jobRow
	var found bool
	err := s.project(ctx, args.Project, func(tx *store.Tx) (err error) {
		row, found, err = store.One[jobRow](ctx, tx, store.GetJob, args.Job)
		return err
	})
	if err != nil || !found || row.State != JobAggregating {
		return err
	}
	answer := wasm.Final{}
	if row.Aggregator != nil {
		fold := s.aggregation(args.Project, args.Job, *row.Aggregator)
		if answer, err = s.mergeAll(ctx, args, fold, row); err != nil {
			return s.moduleFailed(ctx, args.Project, args.Job, err)
		}
	}
	if row.Aggregator != nil && answer.N != row.Accepted {
		return fmt.Errorf("job %s: the answer folds %d results, but %d were accepted", args.Job, answer.N, row.Accepted)
	}
	return s.keepAnswer(ctx, args, row.Aggregator != nil, answer)
}

// mergeAll brings the partials of the pages down to at most one batch, and makes the answer of those.
func (s *Service) mergeAll(ctx context.Context, args MergeArgs, fold wasm.Aggregation, row jobRow) (wasm.Final, error) {
	level, width := 0, row.PagesTotal
	for width > wasm.MergeFanIn {
		above := (width + wasm.MergeFanIn - 1) / wasm.MergeFanIn
		for n := range above {
			if err := s.mergeOne(ctx, args, fold, level, n); err != nil {
				return wasm.Final{}, err
			}
		}
		level, width = level+1, above
	}
	rows, err := s.partials(ctx, args, level, 0, width)
	if err != nil {
		return wasm.Final{}, err
	}
	answer, _, err := fold.Final(ctx, wasm.Each(partialsOf(rows)))
	if err != nil {
		return wasm.Final{}, fmt.Errorf("making the answer: %w", err)
	}
	return answer, nil
}

// mergeOne merges one batch of a level into one partial of the level above, unless that is there already.
func (s *Service) mergeOne(ctx context.Context, args MergeArgs, fold wasm.Aggregation, level int, n int64) error {
	var done bool
	err := s.project(ctx, args.Project, func(tx *store.Tx) (err error) {
		_, done, err = store.Value[int64](ctx, tx, store.GetPartialCount, args.Job, level+1, n)
		return err
	})
	if err != nil || done {
		return err
	}
	rows, err := s.partials(ctx, args, level, n*wasm.MergeFanIn, (n+1)*wasm.MergeFanIn)
	if err != nil {
		return err
	}
	var merged wasm.Partial
	if parts := partialsOf(rows); len(parts) > 0 {
		if merged, _, err = fold.Merge(ctx, wasm.Each(parts)); err != nil {
			return fmt.Errorf("merging partials %d to %d of level %d: %w", n*wasm.MergeFanIn, (n+1)*wasm.MergeFanIn-1, level, err)
		}
	}
	var count int64
	for _, r := range rows {
		count += r.Count
	}
	return s.project(ctx, args.Project, func(tx *store.Tx) error {
		_, err := store.Exec(ctx, tx, store.AddPartial, args.Job, level+1, n, count, []byte(merged))
		return err
	})
}

func (s *Service) partials(ctx context.Context, args MergeArgs, level int, from, to int64) (rows []partialRow, err error) {
	err = s.project(ctx, args.Project, func(tx *store.Tx) (err error) {
		rows, err = store.Many[partialRow](ctx, tx, store.ListPartials, args.Job, level, from, to)
		return err
	})
	return rows, err
}

// partialsOf drops the folds of pages in which nothing was accepted: modules see only partials that they made.
func partialsOf(rows []partialRow) []wasm.Partial {
	var parts []wasm.Partial
	for _, r := range rows {
		if len(r.Data) > 0 {
			parts = append(parts, r.Data)
		}
	}
	return slices.Clip(parts)
}

// keepAnswer stores the answer and has the job ended.
func (s *Service) keepAnswer(ctx context.Context, args MergeArgs, folded bool, answer wasm.Final) error {
	var object *string
	value := []byte(answer.Value)
	if len(value) > MaxInlineAggregate {
		digest, _, err := s.blobs.Put(ctx, args.Project, bytes.NewReader(value), int64(len(value)))
		if err != nil {
			return fmt.Errorf("storing the answer of job %s: %w", args.Job, err)
		}
		object, value = &digest, nil
	}
	err := s.project(ctx, args.Project, func(tx *store.Tx) error {
		state, found, err := store.Value[JobState](ctx, tx, store.LockJob, args.Job)
		if err != nil || !found || state != JobAggregating {
			return err
		}
		if folded {
			if _, err := store.Exec(ctx, tx, store.KeepAnswer, args.Job, value, object, answer.N, answer.Summary); err != nil {
				return err
			}
		}
		return s.enqueue(ctx, tx, FinishArgs(args))
	})
	if err != nil {
		return fmt.Errorf("keeping the answer of job %s: %w", args.Job, err)
	}
	return nil
}
