package aggregation

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/aggregation/sql"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/wasm"
)

// MaxInlineAggregate is the largest answer that is kept in the database, in bytes; a larger one is an object.
const MaxInlineAggregate = 64 << 10

type partialRow struct {
	Number int64
	Count  int64
	Data   []byte
	Digest []byte
}

// Merge merges the partials below one node in fixed order, or makes the answer out of those at the top. Each node is stored, so that
// a merge that was killed goes on where it was.
func (s *Service) Merge(ctx context.Context, args stepargs.MergeArgs) error {
	var f FoldingRow
	var found bool
	err := s.env.Project(ctx, args.Project, func(tx *store.Tx) (err error) {
		f, found, err = store.One[FoldingRow](ctx, tx, store.GetFolding, args.Job, args.Run)
		return err
	})
	if err != nil || !found || !f.goesOn() {
		return err
	}
	if args.Level > 0 {
		err = s.mergeNode(ctx, args, f, node{args.Level, args.Number})
	} else if f.PagesFolded == f.PagesTotal {
		if provisional, err := s.provisional(ctx, args); err != nil || provisional { // the answer is made when all results are final
			return err
		}
		err = s.makeAnswer(ctx, args, f)
	}
	if err != nil {
		return s.moduleFailed(ctx, args.Project, args.Job, f, err)
	}
	return nil
}

// provisional says whether some result of the job is not final yet.
func (s *Service) provisional(ctx context.Context, args stepargs.MergeArgs) (some bool, err error) {
	err = s.env.Project(ctx, args.Project, func(tx *store.Tx) error {
		left, _, err := store.One[jobs.DrainRow](ctx, tx, store.JobDrain, args.Job)
		some = left.Provisional > 0
		return err
	})
	return some, err
}

// afterPartial returns the merge that a stored partial completes, if it does. The caller holds the job's lock, so that of two
// partials that complete a node together the second one sees both.
func (s *Service) afterPartial(ctx context.Context, tx *store.Tx, project, job uuid.UUID, f FoldingRow, n node) ([]functions.Step, error) {
	top, _ := treeTop(f.PagesTotal)
	if n.level >= top || f.Aggregator == nil {
		return nil, nil
	}
	parent := n.parent()
	from, to := parent.children(f.PagesTotal)
	below, _, err := store.Value[int64](ctx, tx, sql.CountPartials, job, f.Run, n.level, from, to)
	if err != nil || below < to-from {
		return nil, err
	}
	return []functions.Step{stepargs.MergeArgs{Project: project, Job: job, Run: f.Run, Level: parent.level, Number: parent.number}}, nil
}

// mergeNode merges what is below a node, unless that was done already.
func (s *Service) mergeNode(ctx context.Context, args stepargs.MergeArgs, f FoldingRow, n node) error {
	from, to := n.children(f.PagesTotal)
	rows, done, err := s.below(ctx, args, f, n, from, to)
	if err != nil || done || int64(len(rows)) < to-from {
		return err // a node below was opened again: its merge comes again as well
	}
	var merged wasm.Partial
	runs := &registry.ModuleRuns{}
	if hasPartials(rows) {
		var fold wasm.Aggregation
		fold, runs = s.watchedAggregation(args.Project, args.Job, f, n.level, fmt.Sprintf("partials %d to %d of level %d", from, to-1, n.level-1))
		if merged, _, err = fold.Merge(ctx, s.partials(ctx, args, f.Run, n.level-1, rows)); err != nil {
			return fmt.Errorf("merging partials %d to %d of level %d: %w", from, to-1, n.level-1, runs.Named(err))
		}
	}
	return s.env.Project(ctx, args.Project, func(tx *store.Tx) error {
		f, on, err := lockFolding(ctx, tx, args.Job, f.Run)
		if err != nil || !on {
			return err
		}
		if same, err := unchanged(ctx, tx, args.Job, f.Run, n.level-1, from, to, rows); err != nil || !same {
			return err
		}
		if _, err := store.Exec(ctx, tx, sql.AddPartial, args.Job, f.Run, n.level, n.number, countOf(rows), []byte(merged)); err != nil {
			return err
		}
		if err := runs.Keep(ctx, tx); err != nil {
			return err
		}
		if _, err := store.Exec(ctx, tx, sql.EndTrouble, args.Job, f.Run); err != nil {
			return err
		}
		steps, err := s.afterPartial(ctx, tx, args.Project, args.Job, f, n)
		if err != nil {
			return err
		}
		return s.env.Enqueue(ctx, tx, steps...)
	})
}

// below lists the partials below a node, without their data; done says that the node itself is merged, and then nothing is listed.
func (s *Service) below(ctx context.Context, args stepargs.MergeArgs, f FoldingRow, n node, from, to int64) (rows []partialDigest, done bool, err error) {
	err = s.env.Project(ctx, args.Project, func(tx *store.Tx) error {
		if _, done, err = store.Value[int64](ctx, tx, sql.GetPartialCount, args.Job, f.Run, n.level, n.number); err != nil || done {
			return err
		}
		rows, err = store.Many[partialDigest](ctx, tx, sql.PartialDigests, args.Job, f.Run, n.level-1, from, to)
		return err
	})
	return rows, done, err
}

type partialDigest struct {
	Number int64
	Count  int64
	Bytes  int64
	Digest []byte
}

// partials reads the data of listed partials in their order, as much at a time as a preview holds: a module's partials may be megabytes
// each.
func (s *Service) partials(ctx context.Context, args stepargs.MergeArgs, run, level int, listed []partialDigest) iter.Seq2[wasm.Partial, error] {
	return func(yield func(wasm.Partial, error) bool) {
		for rest := listed; len(rest) > 0; {
			n := someOf(rest)
			rows, err := s.readPartials(ctx, args, run, level, rest[:n])
			if err != nil {
				yield(nil, err)
				return
			}
			for _, r := range rows {
				// Of a page in which nothing was accepted there is none: modules see only partials that they made.
				if len(r.Data) > 0 && !yield(r.Data, nil) {
					return
				}
			}
			rest = rest[n:]
		}
	}
}

// someOf says how many of the next partials are read at once: at least one.
func someOf(listed []partialDigest) int {
	total := int64(0)
	for i, d := range listed {
		if total += d.Bytes; total > MaxPreviewBytes && i > 0 {
			return i
		}
	}
	return len(listed)
}

func (s *Service) readPartials(ctx context.Context, args stepargs.MergeArgs, run, level int, listed []partialDigest) (rows []partialRow, err error) {
	from, to := listed[0].Number, listed[len(listed)-1].Number+1
	err = s.env.Project(ctx, args.Project, func(tx *store.Tx) error {
		rows, err = store.Many[partialRow](ctx, tx, sql.ListPartials, args.Job, run, level, from, to)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading partials %d to %d of level %d: %w", from, to-1, level, err)
	}
	if !slices.EqualFunc(rows, listed, func(r partialRow, d partialDigest) bool {
		return r.Number == d.Number && bytes.Equal(r.Digest, d.Digest)
	}) {
		return nil, fmt.Errorf("reading partials %d to %d of level %d: they have changed meanwhile; the step is tried again", from, to-1, level)
	}
	return rows, nil
}

// hasPartials tells whether anything was accepted in the pages of partials.
func hasPartials(listed []partialDigest) bool {
	return slices.ContainsFunc(listed, func(d partialDigest) bool { return d.Bytes > 0 })
}

// unchanged says whether the partials are still those that were read: a shard that is opened again takes them away. The caller holds
// the job's lock.
func unchanged(ctx context.Context, tx *store.Tx, job uuid.UUID, run, level int, from, to int64, rows []partialDigest) (bool, error) {
	now, err := store.Many[partialDigest](ctx, tx, sql.PartialDigests, job, run, level, from, to)
	if err != nil {
		return false, err
	}
	return slices.EqualFunc(now, rows, func(d, r partialDigest) bool {
		return d.Number == r.Number && d.Count == r.Count && bytes.Equal(d.Digest, r.Digest)
	}), nil
}

// makeAnswer merges the nodes that are missing, which are few when the last page came, and makes the answer out of the top.
func (s *Service) makeAnswer(ctx context.Context, args stepargs.MergeArgs, f FoldingRow) error {
	if f.Aggregator == nil {
		return s.keepAnswer(ctx, args, f, nil, wasm.Final{}, &registry.ModuleRuns{})
	}
	top, width := treeTop(f.PagesTotal)
	for level := 1; level <= top; level++ {
		for n := range treeWidth(f.PagesTotal, level) {
			if err := s.mergeNode(ctx, args, f, node{level, n}); err != nil {
				return err
			}
		}
	}
	// Above the top there is no node, so that nothing can be kept of one already: what is below it is the whole top.
	rows, _, err := s.below(ctx, args, f, node{top + 1, 0}, 0, width)
	if err != nil || int64(len(rows)) < width {
		return err
	}
	fold, runs := s.watchedAggregation(args.Project, args.Job, f, top, "the answer")
	answer, _, err := fold.Final(ctx, s.partials(ctx, args, f.Run, top, rows))
	if err != nil {
		return fmt.Errorf("making the answer: %w", runs.Named(err))
	}
	return s.keepAnswer(ctx, args, f, rows, answer, runs)
}

func countOf(rows []partialDigest) (n int64) {
	for _, r := range rows {
		n += r.Count
	}
	return n
}

// keepAnswer stores the answer. It ends the job, or, where the job has ended already, becomes the answer that the job shows.
func (s *Service) keepAnswer(ctx context.Context, args stepargs.MergeArgs, f FoldingRow, rows []partialDigest, answer wasm.Final, runs *registry.ModuleRuns) error {
	value, object, err := s.inlineOrObject(ctx, args.Project, answer.Value)
	if err != nil {
		return fmt.Errorf("storing the answer of job %s: %w", args.Job, err)
	}
	var further []byte
	if len(answer.Rows) > 0 {
		if further, err = json.Marshal(answer.Rows); err != nil {
			return fmt.Errorf("encoding the rows of the answer of job %s: %w", args.Job, err)
		}
	}
	further, furtherObject, err := s.inlineOrObject(ctx, args.Project, further)
	if err != nil {
		return fmt.Errorf("storing the rows of the answer of job %s: %w", args.Job, err)
	}
	err = s.env.Project(ctx, args.Project, func(tx *store.Tx) error {
		now, on, err := lockFolding(ctx, tx, args.Job, f.Run)
		if err != nil || !on || now.PagesFolded != now.PagesTotal {
			return err
		}
		if row, _, err := store.One[jobs.DrainRow](ctx, tx, store.JobDrain, args.Job); err != nil || row.Provisional > 0 {
			return err // a shard was opened again meanwhile; the answer comes again when all are final
		}
		var count *int64
		if f.Aggregator != nil {
			top, width := treeTop(f.PagesTotal)
			if same, err := unchanged(ctx, tx, args.Job, f.Run, top, 0, width, rows); err != nil || !same {
				return err // a shard was opened again meanwhile; the answer comes again as well
			}
			row, _, err := store.One[jobs.Row](ctx, tx, store.GetJob, args.Job)
			if err != nil {
				return err
			}
			if answer.N != row.Accepted || countOf(rows) != row.Accepted {
				return fmt.Errorf("the answer folds %d results, but %d were accepted", answer.N, row.Accepted)
			}
			count = &answer.N
		}
		if _, err := store.Exec(ctx, tx, sql.KeepAnswer, args.Job, f.Run, value, object, count, answer.Summary, answer.Truncated, further, furtherObject); err != nil {
			return err
		}
		if err := runs.Keep(ctx, tx); err != nil {
			return err
		}
		if f.Current {
			return s.env.Enqueue(ctx, tx, stepargs.FinishArgs{Project: args.Project, Job: args.Job})
		}
		if err := base.AddEvent(ctx, tx, args.Job, base.EventReaggregated, map[string]any{"run": f.Run}); err != nil {
			return err
		}
		if f.Beside {
			return s.goOnAfterFold(ctx, tx, args.Project, args.Job, f.Run)
		}
		_, err = store.Exec(ctx, tx, sql.ChooseRun, args.Job, f.Run)
		return err
	})
	if err != nil {
		return fmt.Errorf("keeping the answer of job %s: %w", args.Job, err)
	}
	return nil
}

// inlineOrObject keeps small values in the database and stores large ones.
func (s *Service) inlineOrObject(ctx context.Context, project uuid.UUID, value []byte) (inline []byte, object *string, err error) {
	if len(value) <= MaxInlineAggregate {
		return value, nil, nil
	}
	digest, _, err := s.env.Blobs.Put(ctx, project, bytes.NewReader(value), int64(len(value)))
	return nil, &digest, err
}
