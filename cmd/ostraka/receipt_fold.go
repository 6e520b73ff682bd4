//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/ostraka/ostraka/audit"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/wasm"
	"github.com/ostraka/ostraka/wasm/builtin"
)

// folder folds results again as the server has done it: page by page, and then the pages' partials in the same shape. Nil: there is
// nothing to fold, or it cannot be done here.
type folder struct {
	said  audit.Statement
	dir   string
	pool  *wasm.Pool
	fold  wasm.Aggregation
	pages []wasm.Partial // of pages without results: nil
	page  []wasm.Item
	at    int64
	whole bool // no result was missing
}

// newFolder is nil where the aggregator is no built-in one: a module of the project is not in the receipt.
func newFolder(_ context.Context, said audit.Statement) (*folder, error) {
	var ref functions.AggregatorRef
	if said.Answer == nil || said.Aggregator == nil {
		return nil, nil //nolint:nilnil // as said
	}
	if err := json.Unmarshal(said.Aggregator, &ref); err != nil {
		return nil, refused(fmt.Errorf("its aggregator: %w", err))
	}
	module, found := builtin.ByDigest(ref.Digest)
	if !found {
		return nil, nil //nolint:nilnil // as said
	}
	dir, err := os.MkdirTemp("", "ostraka-module-")
	if err != nil {
		return nil, fmt.Errorf("making a directory for compiled code: %w", err)
	}
	pool, err := wasm.NewPool(wasm.Options{CacheDir: dir})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("preparing the module runner: %w", err), os.RemoveAll(dir))
	}
	return &folder{
		said: said, dir: dir, pool: pool, whole: true,
		fold: wasm.Aggregation{Use: wasm.Use{Pool: pool, Project: said.Project, Job: said.Job, Module: module, Params: ref.Params}},
	}, nil
}

func (f *folder) close() {
	if f == nil {
		return
	}
	f.pool.Close()
	_ = os.RemoveAll(f.dir) // it is in the system's folder for what may be lost
}

// take takes the next result. One that is not in its line cannot be folded here.
func (f *folder) take(ctx context.Context, shard int64, output []byte) error {
	if f == nil || !f.whole {
		return nil
	}
	if len(output) == 0 {
		f.whole = false
		return nil
	}
	if page := partition.PageOf(shard); page != f.at {
		if err := f.endPage(ctx, page); err != nil {
			return err
		}
	}
	f.page = append(f.page, wasm.Item{ID: strconv.FormatInt(shard, 10), Result: output})
	return nil
}

// endPage folds the page, and continues with the next.
func (f *folder) endPage(ctx context.Context, next int64) error {
	var partial wasm.Partial
	if len(f.page) > 0 {
		var err error
		if partial, _, err = f.fold.Fold(ctx, wasm.Each(f.page)); err != nil {
			return fmt.Errorf("folding page %d again: %w", f.at, err)
		}
	}
	f.pages = append(f.pages, partial)
	for int64(len(f.pages)) < next {
		f.pages = append(f.pages, nil)
	}
	f.page, f.at = f.page[:0], next
	return nil
}

// end folds the last page, merges the pages and compares the answer with that of the receipt.
func (f *folder) end(ctx context.Context) (folded bool, err error) {
	if f == nil || !f.whole {
		return false, nil
	}
	if err := f.endPage(ctx, partition.PageOf(max(f.said.Shards.Total-1, 0))+1); err != nil {
		return false, err
	}
	level := f.pages
	for len(level) > wasm.MergeFanIn {
		var above []wasm.Partial
		for from := 0; from < len(level); from += wasm.MergeFanIn {
			var merged wasm.Partial
			if below := some(level[from:min(from+wasm.MergeFanIn, len(level))]); len(below) > 0 {
				if merged, _, err = f.fold.Merge(ctx, wasm.Each(below)); err != nil {
					return false, fmt.Errorf("merging again: %w", err)
				}
			}
			above = append(above, merged)
		}
		level = above
	}
	answer, _, err := f.fold.Final(ctx, wasm.Each(some(level)))
	if err != nil {
		return false, fmt.Errorf("making the answer again: %w", err)
	}
	said := f.said.Answer
	var compact bytes.Buffer
	if err := json.Compact(&compact, answer.Value); err != nil {
		return false, fmt.Errorf("reading the answer that was made again: %w", err)
	}
	// Of an answer that is stored as an object the digest is that of its bytes as they are.
	if said.Digest != audit.DigestOf(compact.Bytes()) && said.Digest != audit.DigestOf(answer.Value) || answer.N != said.Count {
		return false, refused(fmt.Errorf("the results fold to another answer, of %d: %s", answer.N, shorten(compact.String())))
	}
	rows := ""
	if len(answer.Rows) > 0 {
		text, err := json.Marshal(answer.Rows)
		if err != nil {
			return false, fmt.Errorf("reading the further results that were made again: %w", err)
		}
		rows = audit.DigestOf(text)
	}
	if rows != said.Rows {
		return false, refused(errors.New("the results fold to other rows than those of the receipt"))
	}
	return true, nil
}

// some leaves out what there is no partial of.
func some(partials []wasm.Partial) (there []wasm.Partial) {
	for _, p := range partials {
		if p != nil {
			there = append(there, p)
		}
	}
	return there
}
