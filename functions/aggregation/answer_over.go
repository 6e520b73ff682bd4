package aggregation

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/aggregation/sql"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/wasm"
)

// AnswerOver is what a finished job's answer would be over its shards [from, to) alone, with other outputs instead of some. Pages that
// are in it as they are were folded before.
func (s *Service) AnswerOver(ctx context.Context, project, job uuid.UUID, from, to int64, instead map[int64][]byte) (json.RawMessage, error) {
	f, err := s.folding(ctx, project, job)
	if err != nil {
		return nil, err
	}
	var folds []wasm.Partial
	size := 0
	for page := from / partition.PageSize; page*partition.PageSize < to; page++ {
		fold, err := s.pageOver(ctx, project, job, f, page, from, to, instead)
		if err != nil {
			return nil, err
		}
		if size += len(fold); size > MaxPreviewBytes {
			return nil, functions.Invalid("not_folded", fmt.Sprintf("the partials of job %s have more than %d bytes together", job, MaxPreviewBytes), "let the aggregator keep less")
		}
		if len(fold) > 0 {
			folds = append(folds, fold)
		}
	}
	merged, err := s.Join(ctx, project, job, *f.Aggregator, folds)
	if err != nil {
		return nil, err
	}
	answer, _, err := s.AnswerOf(ctx, project, job, *f.Aggregator, merged)
	return answer, err
}

func (s *Service) folding(ctx context.Context, project, job uuid.UUID) (f FoldingRow, err error) {
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		if f, _, err = store.One[FoldingRow](ctx, tx, store.GetFolding, job, 0); err != nil {
			return err
		}
		return stillThere(ctx, tx, job)
	})
	if err == nil && f.Aggregator == nil {
		err = functions.Invalid("not_folded", fmt.Sprintf("the results of job %s are folded by no aggregator", job), "name one")
	}
	return f, err
}

// pageOver is the fold of what [from, to) has of a page.
func (s *Service) pageOver(ctx context.Context, project, job uuid.UUID, f FoldingRow, page, from, to int64, instead map[int64][]byte) (wasm.Partial, error) {
	first, last := partition.PageBounds(page, f.ShardsTotal)
	as := from <= first && to >= last
	for shard := range instead {
		as = as && (shard < first || shard >= last)
	}
	var kept []partialRow
	var rows []foldRow
	err := s.env.Project(ctx, project, func(tx *store.Tx) (err error) {
		if as {
			kept, err = store.Many[partialRow](ctx, tx, sql.ListPartials, job, f.Run, 0, page, page+1)
		} else {
			rows, err = store.Many[foldRow](ctx, tx, sql.PageResults, job, max(first, from), min(last, to))
		}
		if err != nil {
			return err
		}
		return stillThere(ctx, tx, job)
	})
	if err != nil {
		return nil, fmt.Errorf("reading page %d of job %s: %w", page, job, err)
	}
	if len(kept) == 1 {
		return kept[0].Data, nil
	}
	for i := range rows {
		if output, is := instead[rows[i].Shard]; is {
			rows[i] = foldRow{Shard: rows[i].Shard, Output: output, OutputBytes: int64(len(output))}
		}
	}
	if len(rows) == 0 {
		return nil, nil
	}
	if shard, large := tooLargeToFold(*f.Aggregator, rows); large {
		return nil, functions.Invalid("not_folded", fmt.Sprintf("the output of shard %d of job %s is too large for a built-in aggregator", shard, job), "use an aggregator of your own")
	}
	fold, _, err := s.registry.Aggregation(project, job, *f.Aggregator).Fold(ctx, s.items(ctx, project, rows))
	if err != nil {
		return nil, fmt.Errorf("folding a part of page %d: %w", page, err)
	}
	return fold, nil
}
