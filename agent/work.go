package agent

import (
	"context"
	"fmt"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/runtime/harness"
)

// maxInlineOutput is the size up to which an output travels with its result, in bytes, as the server has it. A larger one is
// stored as an object first.
const maxInlineOutput = 64 << 10

// work is a lease with a sandbox to execute it in.
type work struct {
	*agent
	lease   *heldLease
	session Session
	leave   func() // frees what was reserved
	box     *box
}

// run executes the shards one after the other while a reporter sends what is done. It returns how many results the server has,
// and an error when the sandbox does not work or the server does not take the results.
func (w *work) run(soft context.Context) (reported int, err error) {
	results := make(chan client.ShardResult, len(w.lease.Shards)) // a slow server does not hold up the work
	r := newReporter(w.agent, w.lease)
	sent := make(chan error, 1)
	go func() { sent <- r.run(w.lease.alive, results) }()

	ctx, cancel := both(soft, w.lease.fresh)
	defer cancel(nil)
	err = w.execute(ctx, results)
	close(results)
	if sendErr := <-sent; err == nil {
		err = sendErr
	}
	return r.reported, err
}

// execute runs shard after shard until the context ends. A shard that it interrupts is as if it had not been begun.
func (w *work) execute(ctx context.Context, results chan<- client.ShardResult) error {
	for _, shard := range w.lease.Shards {
		if over(ctx) || w.box.ending() != "" {
			return nil
		}
		if why := w.keeper.stops(); why.Code != "" {
			return &pausedWork{why}
		}
		w.box.shard.Store(shard.Shard)
		r, err := w.session.Run(ctx, shard.Shard, []byte(shard.Input))
		if over(ctx) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("executing shard %d: %w", shard.Shard, err)
		}
		w.done.Add(1)
		result, err := w.pack(ctx, r)
		if over(ctx) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("storing the output of shard %d: %w", shard.Shard, err)
		}
		results <- result
	}
	return nil
}

// pack makes of what the sandbox says what the server is told. Large outputs are stored on the way.
func (w *work) pack(ctx context.Context, r harness.Result) (client.ShardResult, error) {
	result, err := resultOf(r)
	if left := len(r.Files) - len(result.Files); left > 0 {
		w.log.Warn("a shard left more files than a result lists", "lease", w.lease.ID, "shard", r.Shard, "files", len(r.Files), "left_out", left)
	}
	if err != nil || len(r.Output) <= maxInlineOutput {
		return result, err
	}
	result.Output = ""
	return result, w.persist(ctx, "storing a large output", func(ctx context.Context) error {
		return w.server.putOutput(ctx, w.lease.ID, r.OutputDigest, r.Output)
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
