package main

import (
	"bufio"
	"context"
	"fmt"
	"hash/maphash"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/client"
)

// resultsOnce writes each result of a job once, however often all are asked for while the job runs. One that was provisional and has
// changed since is written again.
type resultsOnce struct {
	out         *bufio.Writer
	write       func(client.ResultLine, []byte) error // to out
	written     shardSet
	provisional map[int64]uint64 // what was written of those shards, as a hash
	seed        maphash.Seed
}

// whatResult tells two results of a shard apart.
type whatResult struct {
	digest string
	agent  uuid.UUID
}

// newResultsOnce writes results of shards after that number.
func newResultsOnce(out *bufio.Writer, after int64) *resultsOnce {
	return &resultsOnce{out: out, written: shardSet{low: after + 1}, provisional: map[int64]uint64{}, seed: maphash.MakeSeed()}
}

// lines has JSON lines written, as they come.
func (w *resultsOnce) lines(_ client.ResultLine, line []byte) error {
	if _, err := w.out.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("writing results: %w", err)
	}
	return nil
}

func (w *resultsOnce) take(r client.ResultLine, line []byte) error {
	what := maphash.Comparable(w.seed, whatResult{r.OutputDigest, r.Agent})
	before, open := w.provisional[r.Shard]
	if !r.Provisional {
		delete(w.provisional, r.Shard)
	}
	if w.written.has(r.Shard) && (!open || before == what) {
		return nil
	}
	if err := w.written.add(r.Shard); err != nil {
		return err
	}
	if r.Provisional {
		w.provisional[r.Shard] = what
	}
	return w.write(r, line)
}

// after is the shard after which everything is that may be missing still.
func (w *resultsOnce) after() int64 {
	first := w.written.first()
	for shard := range w.provisional {
		first = min(first, shard)
	}
	return first - 1
}

// catchUp asks for the results that may be missing and writes those that are.
func (w *resultsOnce) catchUp(ctx context.Context, o *jobResultsOptions, c *connection, id uuid.UUID) error {
	o.after = w.after()
	return o.each(ctx, c, id, w.out.Flush, w.take)
}
