//go:build linux

package docker

import (
	"context"
	"errors"
	"sync"

	"github.com/ostraka/ostraka/runtime/harness"
	"github.com/ostraka/ostraka/runtime/recheck"
)

// pool keeps containers started ahead, and those that rest between the batches of one function.
type pool struct {
	e    *engine
	size int
	kept *recheck.Kept[*box]

	mu     sync.Mutex
	idle   []*box // oldest first
	coming int    // being started
	later  *shape // asked for while others were coming
	closed bool
	work   sync.WaitGroup // starts and removals in the background
}

func newPool(e *engine, cfg Config) *pool {
	p := &pool{e: e, size: cfg.Warm, kept: recheck.NewKept[*box](cfg.Concurrent, cfg.Log)}
	p.fill(defaultShape())
	return p
}

// served is which batches a container may serve that has served this one.
func served(s shape, batch recheck.Batch) recheck.Served {
	of := batch.Served()
	of.Inputs = s.inputs
	return of
}

// take gives a container of the shape: the one that rests for batches such as this, unless it is to be alone, one that waits, or a new one.
func (p *pool) take(ctx context.Context, s shape, batch recheck.Batch, alone bool) (b *box, waited bool, err error) {
	if alone {
		p.kept.BeginNew()
	} else if b, _, found := p.kept.Begin(served(s, batch)); found {
		return b, true, nil
	}
	p.mu.Lock()
	for i := len(p.idle) - 1; i >= 0; i-- {
		if p.idle[i].shape == s {
			b = p.idle[i]
			p.idle = append(p.idle[:i], p.idle[i+1:]...)
			break
		}
	}
	p.mu.Unlock()
	if b != nil {
		return b, true, nil
	}
	b, err = p.startFor(ctx, s)
	return b, false, err
}

// begin starts a container for a batch.
func (p *pool) begin(ctx context.Context, s shape) (*box, error) {
	p.kept.BeginNew()
	return p.startFor(ctx, s)
}

// startFor starts a container for a batch that is counted.
func (p *pool) startFor(ctx context.Context, s shape) (*box, error) {
	b, err := p.e.start(ctx, s)
	if err != nil {
		p.kept.End()
	}
	return b, err
}

// serve runs a batch in a container, which rests afterwards or is removed, and starts one for others.
func (p *pool) serve(ctx context.Context, b *box, batch recheck.Batch) ([]harness.Result, error) {
	defer p.fill(b.shape)
	results, err := b.run(ctx, batch)
	if err == nil && b.rest() {
		p.kept.Keep(b, served(b.shape, batch), b.made)
		return results, nil
	}
	p.kept.End()
	p.discard(b)
	return results, err
}

func (p *pool) discard(b *box) {
	p.work.Go(func() {
		if err := b.Close(); err != nil {
			p.e.log.Warn("removing a container", "error", err)
		}
	})
}

// fill starts containers of a shape until there are enough; what was started
// for functions of another shape, longest ago, gives way, once all that are coming have come.
func (p *pool) fill(s shape) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fillLocked(s)
}

func (p *pool) fillLocked(s shape) {
	if p.closed || p.size == 0 {
		return
	}
	if len(p.idle)+p.coming >= p.size {
		if p.coming > 0 {
			p.later = &s
			return
		}
		if p.idle[0].shape == s {
			return
		}
		old := p.idle[0]
		p.idle = p.idle[1:]
		p.discard(old)
	}
	for len(p.idle)+p.coming < p.size {
		p.coming++
		p.work.Go(func() { p.add(s) })
	}
}

func (p *pool) add(s shape) {
	b, err := p.e.start(context.Background(), s)
	p.mu.Lock()
	p.coming--
	keep := err == nil && !p.closed
	if keep {
		p.idle = append(p.idle, b)
	}
	if later := p.later; later != nil && p.coming == 0 {
		p.later = nil
		p.fillLocked(*later)
	}
	p.mu.Unlock()
	if err != nil {
		p.e.log.Warn("starting a container ahead", "error", err) // the batch that needs one tries again, and says what is wrong
	} else if !keep {
		p.discard(b)
	}
}

// close removes all containers that wait or rest, and waits for what is under way.
func (p *pool) close() error {
	p.mu.Lock()
	p.closed = true
	idle := p.idle
	p.idle = nil
	p.mu.Unlock()
	err := p.kept.Close()
	for _, b := range idle {
		err = errors.Join(err, b.Close())
	}
	p.work.Wait()
	return err
}
