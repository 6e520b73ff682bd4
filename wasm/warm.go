package wasm

import (
	"sync"
	"time"

	"github.com/ostraka/ostraka/wasm/runner"
)

const (
	// IdleFor is how long a runner is kept without work: long enough for the
	// next page of the same job, short enough to give memory back.
	IdleFor = time.Minute
	// MaxIdle is how many idle runners are kept: each takes 12 MB (C) to
	// 57 MB (Go), and starting one costs 3 to 60 ms.
	MaxIdle = 8
	// MaxJobs is how many batches a runner serves before it is replaced, so
	// that whatever leaks does not add up.
	MaxJobs = 1_000
	// MaxBusy is how long a runner works before it is replaced: its limit of
	// processor time, which only guards against a server that stopped
	// watching, must not be met by honest work.
	MaxBusy = 30 * time.Minute
)

// key is what makes a warm runner fit: no project is served by a process that
// has held another's data.
type key struct {
	project, digest string
	memory          int64
}

// worker is a runner that has its module loaded.
type worker struct {
	*runner.Process
	key   key
	jobs  int
	busy  time.Duration
	timer *time.Timer // ends the worker when it was idle too long
}

func (w *worker) worn() bool { return w.jobs >= MaxJobs || w.busy >= MaxBusy }

// warm holds the idle workers, the one used longest ago first.
type warm struct {
	idleFor time.Duration
	mu      sync.Mutex
	closed  bool
	idle    []*worker
	// ending counts workers that are being closed by their timers.
	ending sync.WaitGroup
}

// take returns an idle worker that fits, or nil.
func (p *warm) take(k key) *worker {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := len(p.idle) - 1; i >= 0; i-- {
		if w := p.idle[i]; w.key == k {
			p.remove(i)
			return w
		}
	}
	return nil
}

func (p *warm) remove(i int) {
	p.idle[i].timer.Stop()
	p.idle = append(p.idle[:i], p.idle[i+1:]...)
}

// put keeps a worker for later, in place of the oldest if there are too many.
func (p *warm) put(w *worker) {
	if gone := p.keep(w); gone != nil {
		gone.Close()
	}
}

// keep returns the worker that has to go, if one has.
func (p *warm) keep(w *worker) (gone *worker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || w.worn() {
		return w
	}
	if len(p.idle) == MaxIdle {
		gone = p.idle[0]
		p.remove(0)
	}
	p.idle = append(p.idle, w)
	w.timer = time.AfterFunc(p.idleFor, func() { p.expire(w) })
	return gone
}

// expire closes a worker that is still idle.
func (p *warm) expire(w *worker) {
	p.mu.Lock()
	found := false
	for i, other := range p.idle {
		if other == w {
			p.remove(i)
			p.ending.Add(1)
			found = true
			break
		}
	}
	p.mu.Unlock()
	if found {
		defer p.ending.Done()
		w.Close()
	}
}

// close ends all idle workers and keeps none from now on.
func (p *warm) close() {
	p.mu.Lock()
	idle := p.idle
	p.idle, p.closed = nil, true
	for _, w := range idle {
		w.timer.Stop()
	}
	p.mu.Unlock()
	for _, w := range idle {
		w.Close()
	}
	p.ending.Wait()
}
