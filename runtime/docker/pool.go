//go:build linux

package docker

import (
	"context"
	"errors"
	"sync"

	"github.com/ostraka/ostraka/runtime/harness"
	"github.com/ostraka/ostraka/runtime/recheck"
)

// pool keeps containers started ahead. Each serves one batch and is removed.
type pool struct {
	e    *engine
	size int

	mu     sync.Mutex
	idle   []*box // oldest first
	coming int    // being started
	closed bool
	work   sync.WaitGroup // starts and removals in the background
}

func newPool(e *engine, size int) *pool {
	p := &pool{e: e, size: size}
	p.fill(defaultShape())
	return p
}

// take gives a container of the shape: one that waits, or a new one.
func (p *pool) take(ctx context.Context, s shape) (b *box, waited bool, err error) {
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
	b, err = p.e.start(ctx, s)
	return b, false, err
}

// serve runs a batch in a container, which is used up by it.
func (p *pool) serve(ctx context.Context, b *box, batch recheck.Batch) ([]harness.Result, error) {
	defer p.done(b)
	return b.run(ctx, batch)
}

// done removes a container that has served, and starts one like it.
func (p *pool) done(b *box) {
	p.discard(b)
	p.fill(b.shape)
}

func (p *pool) discard(b *box) {
	p.work.Go(func() {
		if err := b.close(); err != nil {
			p.e.log.Warn("removing a container", "error", err)
		}
	})
}

// fill starts containers of a shape until there are enough; what was started
// for functions of another shape, longest ago, gives way.
func (p *pool) fill(s shape) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.size == 0 {
		return
	}
	if len(p.idle)+p.coming >= p.size {
		if p.coming > 0 || p.idle[0].shape == s {
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
	p.mu.Unlock()
	if err != nil {
		p.e.log.Warn("starting a container ahead", "error", err) // the batch that needs one tries again, and says what is wrong
	} else if !keep {
		p.discard(b)
	}
}

// close removes all containers that wait, and waits for what is under way.
func (p *pool) close() error {
	p.mu.Lock()
	p.closed = true
	idle := p.idle
	p.idle = nil
	p.mu.Unlock()
	var err error
	for _, b := range idle {
		err = errors.Join(err, b.close())
	}
	p.work.Wait()
	return err
}
