package agent

import (
	"context"
	"fmt"
	"strings"

	"github.com/ostraka/ostraka/agent/isolation"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/harness"
)

// maxInlineOutput is the size up to which an output travels with its result, in bytes, as the server has it. A larger one is
// stored as an object first.
const maxInlineOutput = 64 << 10

// maxUnsent is how many finished results may wait in memory for the reporter: with inline outputs they take 16 MiB.
const maxUnsent = 256

// work is a lease with a sandbox to execute it in.
type work struct {
	*agent
	lease   *heldLease
	bundle  *bundle.Bundle
	session isolation.Session
	leave   func() // frees what was reserved
	box     *box
}

// run executes the shards one after the other while a reporter sends what is done. It returns how many results the server has,
// and an error when the sandbox does not work or the server does not take the results.
func (w *work) run(soft context.Context) (reported int, err error) {
	results := make(chan finished, min(len(w.lease.Shards), maxUnsent)) // a slow server does not hold up the work
	r := newReporter(w.agent, w.lease)
	sent := make(chan error, 1)
	ctx, cancel := both(soft, w.lease.fresh)
	defer cancel(nil)
	go func() {
		err := r.run(w.lease.alive, results)
		if err != nil {
			cancel(err) // there is no point in executing more
		}
		for range results { // nor in keeping the executor waiting
		}
		sent <- err
	}()
	err = w.execute(ctx, results)
	close(results)
	if sendErr := <-sent; err == nil {
		err = sendErr
	}
	return r.reported, err
}

// execute runs shard after shard until the context ends. A shard that it interrupts is as if it had not been begun.
func (w *work) execute(ctx context.Context, results chan<- finished) error {
	before := map[int64]bool{}
	for _, r := range w.lease.finished { // by an earlier run
		if !put(w.lease.alive, results, finished{ShardResult: r}) {
			return nil
		}
		before[r.Shard] = true
	}
	for _, shard := range w.lease.Shards {
		if before[shard.Shard] {
			continue
		}
		if over(ctx) || w.box.ending() != "" {
			return nil
		}
		if why := w.keeper.stops(); why.Code != "" {
			return &pausedWork{why}
		}
		if err := w.layInputs(ctx, shard.Shard, shard.Input); err != nil {
			if over(ctx) {
				return nil
			}
			return fmt.Errorf("fetching the files of shard %d: %w", shard.Shard, err)
		}
		w.box.shard.Store(shard.Shard)
		r, err := w.session.Run(ctx, shard.Shard, []byte(shard.Input))
		if over(ctx) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("executing shard %d: %w", shard.Shard, err)
		}
		w.count(r)
		result, err := w.pack(ctx, r)
		switch {
		case err != nil && over(ctx):
			return nil
		case err != nil:
			return fmt.Errorf("storing the output of shard %d: %w", shard.Shard, err)
		}
		if !put(w.lease.alive, results, result) {
			return nil
		}
	}
	return nil
}

// put gives a result to the reporter; it says no when the reporter takes no more.
func put(ctx context.Context, results chan<- finished, r finished) bool {
	select {
	case results <- r:
		return true
	case <-ctx.Done():
		return false
	}
}

// pack makes of what the sandbox says what the server is told, and keeps it. A large output goes to the server at once where it cannot
// be kept.
func (w *work) pack(ctx context.Context, r harness.Result) (f finished, err error) {
	if f.ShardResult, err = resultOf(r); err != nil {
		return f, err
	}
	if err := w.storeArtifacts(ctx, f.Files); err != nil {
		return f, err
	}
	output := ""
	if len(r.Output) > maxInlineOutput {
		output, f.Output = r.Output, ""
	}
	if w.lease.journal.keep(f.ShardResult, output) || output == "" {
		return f, nil
	}
	f.stored = true
	return f, w.persist(ctx, "storing a large output", func(ctx context.Context) error {
		return w.server.putOutput(ctx, w.lease.ID, f.OutputDigest, strings.NewReader(output))
	})
}

func (w *work) close() error {
	defer w.leave()
	err := w.session.Close()
	w.boxes.close(w.box, w.endReason())
	if err != nil {
		return fmt.Errorf("closing the sandbox: %w", err)
	}
	return nil
}

// endReason says why the sandbox ended.
func (w *work) endReason() string {
	if why := w.box.ending(); why != "" {
		return why
	}
	if over(w.lease.fresh) {
		return context.Cause(w.lease.fresh).Error()
	}
	return "its lease is done"
}
