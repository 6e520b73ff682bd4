package aggregation

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/aggregation/sql"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/wasm"
)

// maxFoldedInline bounds the results that a module reads as they are, in bytes, the list of their artifacts included: a record's line
// less what stands around them. A larger one is passed by reference, with its head.
const maxFoldedInline = wasm.DefaultLine - 256

const (
	// maxFileRef is what an artifact takes in a record besides its path, in bytes: its size, its digest and their names.
	maxFileRef = 128
	// maxEscaped is what one byte of text takes in JSON at most.
	maxEscaped = 6
)

type foldRow struct {
	Shard        int64
	Output       []byte
	OutputDigest string
	OutputBytes  int64
	Files        []functions.File
}

// byReference says whether the result is too long to be a record together with the list of its artifacts.
func (r foldRow) byReference() bool {
	room := int64(maxFoldedInline)
	for _, f := range r.Files {
		room -= maxFileRef + maxEscaped*int64(len(f.Path))
	}
	return r.Output == nil && r.OutputBytes > room
}

func (r foldRow) fileRefs() (refs []wasm.FileRef) {
	for _, f := range r.Files {
		refs = append(refs, wasm.FileRef{Path: f.Path, Size: f.Size, SHA256: f.Digest})
	}
	return refs
}

// pageToFold is a settled page as it was read.
type pageToFold struct {
	FoldingRow
	rows     []foldRow
	reopened int // how often its shards were opened again before it was read
}

// Aggregate folds the accepted results of a page into a partial. The fold runs between two transactions, so that none is open while
// a module works; running it twice makes the same partial, and only the first one counts.
func (s *Service) Aggregate(ctx context.Context, args stepargs.AggregateArgs) error {
	page, err := s.readPage(ctx, args)
	if err != nil || page == nil {
		return err
	}
	var partial wasm.Partial
	runs := &registry.ModuleRuns{}
	if page.Aggregator != nil && len(page.rows) > 0 {
		if shard, large := tooLargeToFold(*page.Aggregator, page.rows); large {
			return s.failAggregation(ctx, args.Project, args.Job, page.FoldingRow, fmt.Sprintf("the output of shard %d is larger than the %d bytes that the built-in aggregators read: "+
				"aggregate again with a module of your own, which is passed a reference, or with the aggregator %q", shard, maxFoldedInline, functions.NoAggregator), nil)
		}
		var fold wasm.Aggregation
		fold, runs = s.watchedAggregation(args.Project, args.Job, page.FoldingRow, 0, fmt.Sprintf("page %d", args.Page))
		partial, _, err = fold.Fold(ctx, s.items(ctx, args.Project, page.rows))
	}
	if err != nil {
		return s.moduleFailed(ctx, args.Project, args.Job, page.FoldingRow, fmt.Errorf("folding page %d: %w", args.Page, runs.Named(err)))
	}
	return s.keepPartial(ctx, args, page, partial, runs)
}

// readPage reads what is to be folded. It is nil when there is nothing to do any more.
func (s *Service) readPage(ctx context.Context, args stepargs.AggregateArgs) (page *pageToFold, err error) {
	err = s.env.Project(ctx, args.Project, func(tx *store.Tx) error {
		f, found, err := store.One[FoldingRow](ctx, tx, store.GetFolding, args.Job, args.Run)
		if err != nil || !found || !f.goesOn() {
			return err
		}
		if _, done, err := store.Value[int64](ctx, tx, sql.GetPartialCount, args.Job, f.Run, 0, args.Page); err != nil || done {
			return err
		}
		settled, err := PageSettled(ctx, tx, args.Job, args.Page)
		if err != nil || !settled.Settled {
			return err // it was opened again, and comes back here when it is settled
		}
		first, last := partition.PageBounds(args.Page, f.ShardsTotal)
		page = &pageToFold{FoldingRow: f, reopened: settled.Reopened}
		page.rows, err = store.Many[foldRow](ctx, tx, sql.PageResults, args.Job, first, last)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading page %d of job %s: %w", args.Page, args.Job, err)
	}
	return page, nil
}

// SettledPage says whether a page is settled, and how often it was opened again.
type SettledPage struct {
	Reopened int
	Settled  bool
}

// PageSettled reads it; a job without the page is an error.
func PageSettled(ctx context.Context, tx *store.Tx, job uuid.UUID, page int64) (SettledPage, error) {
	p, found, err := store.One[SettledPage](ctx, tx, sql.PageSettled, job, page)
	if err == nil && !found {
		err = fmt.Errorf("job %s has no page %d", job, page)
	}
	return p, err
}

// tooLargeToFold finds a result that a built-in module would leave out: an answer that silently lacks it would be wrong. Modules of
// owners know what to do with references.
func tooLargeToFold(ref functions.AggregatorRef, rows []foldRow) (shard int64, large bool) {
	if !registry.IsBuiltin(ref.Module) {
		return 0, false
	}
	i := slices.IndexFunc(rows, foldRow.byReference)
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
	item := wasm.Item{ID: base.FormatNumber(r.Shard), Result: r.Output, Files: r.fileRefs()}
	if r.Output != nil {
		return item, nil
	}
	output, err := s.env.Blobs.Get(ctx, project, r.OutputDigest, r.OutputBytes)
	if err != nil {
		return item, fmt.Errorf("reading the output of shard %d: %w", r.Shard, err)
	}
	if !r.byReference() {
		item.Result = output
		return item, nil
	}
	item.Ref = &wasm.Ref{SHA256: r.OutputDigest, Size: r.OutputBytes, Head: headOf(output)}
	return item, nil
}

// headOf is the beginning of a large result: no more than wasm.MaxRef, and no half of a character.
func headOf(output []byte) string {
	return strings.ToValidUTF8(string(output[:min(len(output), wasm.MaxRef)]), "")
}

// keepPartial stores a page's fold and enqueues what follows from it: the merge that it completes, the answer when it was the last
// page, and a preview from time to time.
func (s *Service) keepPartial(ctx context.Context, args stepargs.AggregateArgs, page *pageToFold, partial wasm.Partial, runs *registry.ModuleRuns) error {
	count := int64(len(page.rows))
	err := s.env.Project(ctx, args.Project, func(tx *store.Tx) error {
		f, on, err := lockFolding(ctx, tx, args.Job, page.Run)
		if err != nil || !on {
			return err
		}
		settled, err := PageSettled(ctx, tx, args.Job, args.Page)
		if err != nil || !settled.Settled || settled.Reopened != page.reopened {
			return err // what was folded does not hold any more
		}
		n, err := store.Exec(ctx, tx, sql.AddPartial, args.Job, f.Run, 0, args.Page, count, []byte(partial))
		if err != nil || n == 0 {
			return err
		}
		if err := runs.Keep(ctx, tx); err != nil {
			return err
		}
		if _, err := store.Exec(ctx, tx, sql.EndTrouble, args.Job, f.Run); err != nil {
			return err
		}
		folded, _, err := store.Value[int64](ctx, tx, sql.CountFolded, args.Job, f.Run)
		if err != nil {
			return err
		}
		detail := map[string]any{"run": f.Run, "page": args.Page, "results": count, "folded": folded, "pages": f.PagesTotal}
		if err := base.AddEvent(ctx, tx, args.Job, base.EventPage, detail); err != nil {
			return err
		}
		if folded == f.PagesTotal {
			if err := base.AddEvent(ctx, tx, args.Job, base.EventAggregating, map[string]any{"run": f.Run, "pages": f.PagesTotal}); err != nil {
				return err
			}
			return s.env.Enqueue(ctx, tx, stepargs.MergeArgs{Project: args.Project, Job: args.Job, Run: f.Run})
		}
		steps, err := s.afterPartial(ctx, tx, args.Project, args.Job, f, node{0, args.Page})
		if err != nil {
			return err
		}
		due, asked, err := store.Value[*time.Time](ctx, tx, sql.AskPreview, args.Job, f.Run, s.previewEvery)
		if err != nil {
			return err
		}
		if asked {
			steps = append(steps, stepargs.PreviewArgs{Project: args.Project, Job: args.Job, Run: f.Run, Due: due})
		}
		return s.env.Enqueue(ctx, tx, steps...)
	})
	if err != nil {
		return fmt.Errorf("keeping the fold of page %d of job %s: %w", args.Page, args.Job, err)
	}
	return nil
}
