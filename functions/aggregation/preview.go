package aggregation

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ostraka/ostraka/functions/aggregation/sql"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/wasm"
)

const (
	// PreviewEvery is how long a preview stands before the next one is made, unless New is told otherwise. Whatever is folded meanwhile is in that one.
	PreviewEvery = 3 * time.Second
	// MaxPreviewBytes is the size of all partials that a preview is made of, in bytes: they are held in memory. Where it is more, there
	// is no preview.
	MaxPreviewBytes = 16 << 20
)

// Preview folds the partials that no other has taken in yet. A module that fails here is told of by the steps that need it.
func (s *Service) Preview(ctx context.Context, args stepargs.PreviewArgs) error {
	f, rows, err := s.frontier(ctx, args)
	if err != nil {
		return fmt.Errorf("previewing job %s: %w", args.Job, err)
	}
	parts := partialsOf(rows)
	if len(parts) == 0 {
		return nil
	}
	answer, err := s.foldAll(ctx, s.registry.Aggregation(args.Project, args.Job, *f.Aggregator), parts)
	if err != nil {
		s.env.Log.Info("a preview could not be made", "project", args.Project, "job", args.Job, "run", args.Run, "error", err)
		return nil
	}
	if len(answer.Value) > MaxInlineAggregate {
		return nil
	}
	err = s.env.Project(ctx, args.Project, func(tx *store.Tx) error {
		if _, on, err := lockFolding(ctx, tx, args.Job, args.Run); err != nil || !on {
			return err
		}
		if _, err := store.Exec(ctx, tx, sql.KeepPreview, args.Job, args.Run, []byte(answer.Value), answer.N, f.PagesFolded); err != nil {
			return err
		}
		return base.Notify(ctx, tx, base.ChannelJobs, args.Job)
	})
	if err != nil {
		return fmt.Errorf("keeping the preview of job %s: %w", args.Job, err)
	}
	return nil
}

func (s *Service) frontier(ctx context.Context, args stepargs.PreviewArgs) (f FoldingRow, rows []partialRow, err error) {
	err = s.env.Project(ctx, args.Project, func(tx *store.Tx) error {
		var found bool
		if f, found, err = store.One[FoldingRow](ctx, tx, store.GetFolding, args.Job, args.Run); err != nil || !found || !f.goesOn() || f.Aggregator == nil {
			return err
		}
		type size struct{ Partials, Bytes int64 }
		total, _, err := store.One[size](ctx, tx, sql.FrontierSize, args.Job, args.Run, int64(wasm.MergeFanIn))
		if err != nil || total.Bytes > MaxPreviewBytes {
			return err
		}
		rows, err = store.Many[partialRow](ctx, tx, sql.ListFrontier, args.Job, args.Run, int64(wasm.MergeFanIn))
		return err
	})
	return f, rows, err
}

// foldAll makes the answer out of any number of partials, in their order.
func (s *Service) foldAll(ctx context.Context, fold wasm.Aggregation, parts []wasm.Partial) (wasm.Final, error) {
	for len(parts) > wasm.MergeFanIn {
		var merged []wasm.Partial
		for first := 0; first < len(parts); first += wasm.MergeFanIn {
			p, _, err := fold.Merge(ctx, wasm.Each(parts[first:min(first+wasm.MergeFanIn, len(parts))]))
			if err != nil {
				return wasm.Final{}, err
			}
			merged = append(merged, p)
		}
		parts = merged
	}
	answer, _, err := fold.Final(ctx, wasm.Each(parts))
	return answer, err
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
