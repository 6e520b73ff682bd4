package functions

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/wasm"
)

// AggregateArgs is the step that folds one settled page.
type AggregateArgs struct {
	Project uuid.UUID `json:"project"`
	Job     uuid.UUID `json:"job"`
	Page    int64     `json:"page"`
}

// Kind names the step.
func (AggregateArgs) Kind() string { return "aggregate" }

// maxFoldedInline bounds the results that a module reads as they are, in bytes: a record's line less what stands around the result. A
// larger one is passed by reference, with its head.
const maxFoldedInline = wasm.DefaultLine - 256

type foldRow struct {
	Shard        int64
	Output       []byte
	OutputDigest string
	OutputBytes  int64
}

// Aggregate folds the accepted results of a page into a partial. The fold runs between two transactions, so that none is open while
// a module works; running it twice makes the same partial, and only the first one counts.
func (s *Service) Aggregate(ctx context.Context, args AggregateArgs) error {
	job, rows, err := s.pageResults(ctx, args)
	if err != nil || job == nil {
		return err
	}
	var partial wasm.Partial
	if job.Aggregator != nil && len(rows) > 0 {
		if shard, large := tooLargeToFold(*job.Aggregator, rows); large {
			return s.failJob(ctx, args.Project, args.Job, fmt.Sprintf("the output of shard %d is larger than the %d bytes that the built-in aggregators read: "+
				"return less, use a module of your own, which is passed a reference, or the aggregator %q", shard, maxFoldedInline, NoAggregator))
		}
		fold := s.aggregation(args.Project, args.Job, *job.Aggregator)
		partial, _, err = fold.Fold(ctx, s.items(ctx, args.Project, rows))
	}
	if err != nil {
		return s.moduleFailed(ctx, args.Project, args.Job, fmt.Errorf("folding page %d: %w", args.Page, err))
	}
	return s.keepPartial(ctx, args, partial, int64(len(rows)))
}

// pageResults reads what is to be folded. The job is nil when there is nothing to do any more.
func (s *Service) pageResults(ctx context.Context, args AggregateArgs) (job *jobRow, rows []foldRow, err error) {
	err = s.project(ctx, args.Project, func(tx *store.Tx) error {
		row, found, err := store.One[jobRow](ctx, tx, store.GetJob, args.Job)
		if err != nil || !found || row.State.Ended() {
			return err
		}
		if _, done, err := store.Value[int64](ctx, tx, store.GetPartialCount, args.Job, 0, args.Page); err != nil || done {
			return err
		}
		job = &row
		first, last := partition.PageBounds(args.Page, row.ShardsTotal)
		rows, err = store.Many[foldRow](ctx, tx, store.PageResults, args.Job, first, last)
		return err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("reading page %d of job %s: %w", args.Page, args.Job, err)
	}
	return job, rows, nil
}

func (s *Service) aggregation(project, job uuid.UUID, ref AggregatorRef) wasm.Aggregation {
	return wasm.Aggregation{Pool: s.modules, Project: project.String(), Job: job.String(), Module: s.aggregatorModule(project, ref), Params: ref.Params}
}

// tooLargeToFold finds a result that a built-in module would leave out: an answer that silently lacks it would be wrong. Modules of
// owners know what to do with references.
func tooLargeToFold(ref AggregatorRef, rows []foldRow) (shard int64, large bool) {
	if !isBuiltin(ref.Module) {
		return 0, false
	}
	i := slices.IndexFunc(rows, func(r foldRow) bool { return r.Output == nil && r.OutputBytes > maxFoldedInline })
	if i < 0 {
		return 0, false
	}
	return rows[i].Shard, true
}

// items yields the page's results in the order of the shards, fetching those that are objects.
func (s *Service) items(ctx context.Context, project uuid.UUID, rows []foldRow) iter.Seq2[wasm.Item, error] {
	return func(yield func(wasm.Item, error) bool) {
		for _, r := range rows {
			item, err := s.item(ctx, project, r)
			if !yield(item, err) || err != nil {
				return
			}
		}
	}
}

func (s *Service) item(ctx context.Context, project uuid.UUID, r foldRow) (wasm.Item, error) {
	item := wasm.Item{ID: itoa(r.Shard), Result: r.Output}
	if r.Output != nil {
		return item, nil
	}
	output, err := s.blobs.Get(ctx, project, r.OutputDigest, r.OutputBytes)
	if err != nil {
		return item, fmt.Errorf("reading the output of shard %d: %w", r.Shard, err)
	}
	if len(output) <= maxFoldedInline {
		item.Result = output
		return item, nil
	}
	item.Ref = &wasm.Ref{SHA256: r.OutputDigest, Size: r.OutputBytes, Head: string(output[:wasm.MaxRef])}
	return item, nil
}

// keepPartial stores a page's fold and, when it was the last page, has the partials merged.
func (s *Service) keepPartial(ctx context.Context, args AggregateArgs, partial wasm.Partial, count int64) error {
	err := s.project(ctx, args.Project, func(tx *store.Tx) error {
		state, found, err := store.Value[JobState](ctx, tx, store.LockJob, args.Job)
		if err != nil || !found || state.Ended() {
			return err
		}
		n, err := store.Exec(ctx, tx, store.AddPartial, args.Job, 0, args.Page, count, []byte(partial))
		if err != nil || n == 0 {
			return err
		}
		type progress struct{ Folded, Total int64 }
		p, _, err := store.One[progress](ctx, tx, store.CountFolded, args.Job)
		if err != nil {
			return err
		}
		if err := addEvent(ctx, tx, args.Job, EventPage, map[string]any{"page": args.Page, "results": count, "folded": p.Folded, "pages": p.Total}); err != nil {
			return err
		}
		if p.Folded < p.Total {
			return nil
		}
		if err := addEvent(ctx, tx, args.Job, EventAggregating, map[string]any{"pages": p.Total}); err != nil {
			return err
		}
		return s.enqueue(ctx, tx, MergeArgs{Project: args.Project, Job: args.Job})
	})
	if err != nil {
		return fmt.Errorf("keeping the fold of page %d of job %s: %w", args.Page, args.Job, err)
	}
	return nil
}

// moduleFailed ends a job whose aggregator is at fault. Everything else is tried again by the queue.
func (s *Service) moduleFailed(ctx context.Context, project, job uuid.UUID, err error) error {
	var module *wasm.Error
	if !errors.As(err, &module) || module.Operational() {
		return fmt.Errorf("job %s: %w", job, err)
	}
	s.log.Info("the aggregator of a job failed", "project", project, "job", job, "class", module.Class)
	return s.failJob(ctx, project, job, "the aggregator failed: "+err.Error())
}
