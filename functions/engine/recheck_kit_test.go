package engine_test

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/engine"
	"github.com/ostraka/ostraka/runtime/harness"
	"github.com/ostraka/ostraka/runtime/recheck"
)

// court executes shards as agents here do: it has an answer, and faults where a test wants them.
type court struct {
	mu       sync.Mutex
	answer   func(input string, seed uint32) functions.Result
	trouble  error                                                // what a sandbox that is away says
	breakOff int                                                  // shards after which the next batch breaks off; 0: it does not
	executed int                                                  // shards so far
	largest  int                                                  // shards of the largest batch so far
	during   func(ctx context.Context, batch recheck.Batch) error // while a shard is executed
}

var errAway = errors.New("the sandbox does not answer")

func (c *court) Describe() recheck.Description {
	return recheck.Description{Level: "container", Image: "sha256:c0ffee", Interpreter: "cpython 3.14 (embedded:c0ffee)", Libc: "glibc 2.36", Platform: "linux x86_64"}
}

func (c *court) Health(context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.trouble
}

func (c *court) Recheck(ctx context.Context, batch recheck.Batch) ([]harness.Result, error) {
	if err := batch.Check(); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.trouble != nil {
		return nil, c.trouble
	}
	c.largest = max(c.largest, len(batch.Shards))
	var results []harness.Result
	for i, shard := range batch.Shards {
		if c.breakOff > 0 && i == c.breakOff {
			c.breakOff = 0
			return results, fmt.Errorf("after %d shards: %w", i, errAway)
		}
		if ctx.Err() != nil {
			return results, context.Cause(ctx)
		}
		if c.during != nil {
			during := c.during
			c.mu.Unlock()
			err := during(ctx, batch)
			c.mu.Lock()
			if err != nil {
				return results, err
			}
		}
		r := c.answer(string(shard.Input), batch.HashSeed)
		out := harness.Result{
			Shard: shard.Number, Status: harness.Status(r.Status), Output: r.Output, OutputDigest: r.OutputDigest, OutputBytes: int64(len(r.Output)), StdoutDigest: r.StdoutDigest,
			StartedAt: "2026-01-01T00:00:00Z", EndedAt: "2026-01-01T00:00:01Z", WallMicros: 5, Isolation: "container", Interpreter: "cpython 3.14",
		}
		if r.Exception != nil {
			out.Exception = &harness.Exception{Type: r.Exception.Type, Message: r.Exception.Message}
		}
		for _, f := range r.Files {
			out.Files = append(out.Files, harness.File(f))
		}
		results = append(results, out)
		c.executed++
		batch.NoteEnd()
	}
	return results, nil
}

func (c *court) set(change func(c *court)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(c)
}

// withCourt has the server execute shards as honest agents do.
func withCourt(c *court) func(*engine.Options) {
	if c.answer == nil {
		c.answer = func(input string, _ uint32) functions.Result { return honest(input) }
	}
	return func(o *engine.Options) { o.Rechecker = c }
}

// opened lets policies count on the court.
func (w *world) opened() {
	w.t.Helper()
	_, err := w.SeeRechecker(w.t.Context(), "court")
	require.NoError(w.t, err)
}

// bounded is a job with a target error.
func bounded(epsilon float64) func(*functions.NewJob) {
	return func(j *functions.NewJob) { j.Quorum, j.TargetError = 0, epsilon }
}

// requireQuiet finds no work of the bound that is left undone.
func (w *world) requireQuiet() {
	w.t.Helper()
	require.Zero(w.t, w.count("select count(*) from rechecks"))
	require.Zero(w.t, w.count("select count(*) from recheck_batches"))
	require.Zero(w.t, w.count("select count(*) from audits where state = 'drawn'"))
}
