package workflow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/aggregation"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/workflow/graph"
	"github.com/ostraka/ostraka/functions/workflow/sql"
	"github.com/ostraka/ostraka/wasm"
)

// MaxSummaryBytes is how large the running aggregate of a rolling step becomes, and its answer: a run keeps one between any two holes, and
// each job's answer is folded into it.
const MaxSummaryBytes = 1 << 20

// folded is a stretch that takes the place of others.
type folded struct {
	first, last   string
	shards, count int64
	partial       wasm.Partial
	with          *functions.AggregatorRef
	answer        json.RawMessage // where the stretch ends at the front
}

// foldPart folds the answer of a stretch's job into those of the stretches that touch it. The fold runs between transactions; running it
// twice makes the same one, and only the first one counts. A job whose answer cannot be folded leaves a hole.
func (s *Service) foldPart(ctx context.Context, project uuid.UUID, v view, r *rolling, i int) error {
	f, err := s.foldTogether(ctx, project, v, r, i)
	var refused *functions.Error
	var module *wasm.Error
	switch {
	case err == nil && v.flowsNow(r, i) >= 0:
		return s.flow(ctx, project, v, r, i, f)
	case err == nil:
		return s.revise(ctx, project, v, func(tx *store.Tx) error { return s.keepFold(ctx, tx, v, r, f) })
	case errors.As(err, &module) && !module.Operational():
		return s.losePart(ctx, project, v, r.parts[i], "the aggregator failed: "+err.Error())
	case missing(err):
		return s.losePart(ctx, project, v, r.parts[i], "its job was deleted before its answer was folded")
	case errors.Is(err, functions.ErrJobArchived):
		return s.losePart(ctx, project, v, r.parts[i], "its job was archived before its answer was folded")
	case errors.As(err, &refused) && refused.Kind == functions.KindInvalid:
		return s.losePart(ctx, project, v, r.parts[i], refused.Message)
	default:
		return err
	}
}

func (s *Service) foldTogether(ctx context.Context, project uuid.UUID, v view, r *rolling, i int) (f folded, err error) {
	p := r.parts[i]
	job, err := s.aggregation.ReadFold(ctx, project, *p.JobID)
	if err != nil {
		return f, err
	}
	if job.Aggregator != nil && job.Count != job.Accepted {
		return f, functions.Invalid("not_folded", fmt.Sprintf("%d results of job %s are folded, but %d were accepted", job.Count, p.JobID, job.Accepted), "submit the stretch again: ostraka workflow retry")
	}
	if r.Folded > 0 && !aggregation.SameAggregator(r.Aggregator, job.Aggregator) {
		return f, functions.Invalid("not_folded", fmt.Sprintf("job %s was folded with another aggregator than the step's jobs before it", p.JobID), "start another run")
	}
	f = folded{first: p.First, last: p.Last, shards: p.Shards, count: job.Count, with: job.Aggregator, partial: nil}
	folds := job.Partials
	if i > 0 && touches(r.parts[i-1], p) {
		if folds, err = s.beside(ctx, project, v, &f, r.parts[i-1], folds); err != nil {
			return f, err
		}
	}
	if i+1 < len(r.parts) && touches(p, r.parts[i+1]) {
		if folds, err = s.beside(ctx, project, v, &f, r.parts[i+1], folds); err != nil {
			return f, err
		}
	}
	if job.Aggregator == nil {
		return f, nil
	}
	if f.partial, err = s.aggregation.Join(ctx, project, *p.JobID, *job.Aggregator, folds); err != nil {
		return f, err
	}
	if f.first != r.First {
		return f, withinSummary(len(f.partial))
	}
	answer, n, err := s.aggregation.AnswerOf(ctx, project, *p.JobID, *job.Aggregator, f.partial)
	if err != nil {
		return f, err
	}
	if n != f.count {
		return f, fmt.Errorf("the running aggregate of step %s folds %d results, but %d were accepted", v.steps[p.Number].Name, n, f.count)
	}
	f.answer = answer
	return f, withinSummary(max(len(f.partial), len(answer)))
}

func withinSummary(size int) error {
	if size <= MaxSummaryBytes {
		return nil
	}
	return functions.Invalid("not_folded", fmt.Sprintf("the running aggregate would have %d bytes, and the limit is %d: let the aggregator keep less", size, MaxSummaryBytes), "let the aggregator keep less")
}

// touches tells whether two stretches that follow one another are done, or about to be, and have nothing between them.
func touches(a, b partRow) bool {
	return a.Last == b.First && (a.State == graph.PartDone || b.State == graph.PartDone)
}

// beside takes a stretch that is done into f, before or after what is in it.
func (s *Service) beside(ctx context.Context, project uuid.UUID, v view, f *folded, done partRow, folds []wasm.Partial) ([]wasm.Partial, error) {
	var data []byte
	err := s.env.Project(ctx, project, func(tx *store.Tx) (err error) {
		data, _, err = store.Value[[]byte](ctx, tx, sql.GetPartial, v.ID, done.Number, done.First)
		return err
	})
	if err != nil {
		return nil, err
	}
	f.shards, f.count = f.shards+done.Shards, f.count+done.Count
	before := done.Last == f.first
	if before {
		f.first = done.First
	} else {
		f.last = done.Last
	}
	switch {
	case len(data) == 0:
		return folds, nil
	case before:
		return append([]wasm.Partial{data}, folds...), nil
	default:
		return append(folds, data), nil
	}
}

// keepFold replaces the stretches that were folded together by one.
func (s *Service) keepFold(ctx context.Context, tx *store.Tx, v view, r *rolling, f folded) error {
	done := new(big.Int).Add(r.at.Done(), added(r, f))
	marks, err := json.Marshal(graph.AddMark(r.Marks, graph.Mark{At: s.env.Now().UTC(), Done: done}))
	if err != nil {
		return fmt.Errorf("encoding the pace: %w", err)
	}
	var with []byte
	if f.with != nil {
		if with, err = json.Marshal(f.with); err != nil {
			return fmt.Errorf("encoding the aggregator: %w", err)
		}
	}
	var count *int64
	if f.answer != nil {
		count = &f.count
	}
	if _, err := store.Exec(ctx, tx, sql.DropParts, v.ID, r.Number, f.first, f.last); err != nil {
		return err
	}
	if _, err := store.Exec(ctx, tx, sql.AddDonePart, v.ID, r.Number, f.first, f.last, f.shards, f.count, []byte(f.partial)); err != nil {
		return err
	}
	_, err = store.Exec(ctx, tx, sql.KeepFold, v.ID, r.Number, with, []byte(f.answer), count, marks)
	return err
}

// added is how many integers of f were not done before.
func added(r *rolling, f folded) *big.Int {
	first, last := integer(f.first), integer(f.last)
	n := new(big.Int).Sub(last, first)
	for _, p := range r.at.Parts {
		if p.State == graph.PartDone && p.First.Cmp(first) >= 0 && p.Last.Cmp(last) <= 0 {
			n.Sub(n, new(big.Int).Sub(p.Last, p.First))
		}
	}
	return n
}
