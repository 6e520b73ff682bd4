package wasm

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/ostraka/ostraka/wasm/meter"
	"github.com/ostraka/ostraka/wasm/runner"
)

// Options configure a Pool.
type Options struct {
	// CacheDir keeps compiled modules. It is made with mode 0700 and must
	// belong to this user alone.
	CacheDir string
	// CacheSize bounds it in bytes; zero means DefaultCacheSize.
	CacheSize int64
	// Log receives starts and deaths of runners; nil means none.
	Log *slog.Logger
	// Limits of every batch; zero fields mean the defaults.
	Limits Limits
	// Runners is how many batches run at once; zero means one less than there
	// are processors, so that the server itself keeps one, and at least
	// minRunners.
	Runners int
	// Plain leaves the meter out. It is for measuring what the meter costs;
	// only the clock stops a module then.
	Plain bool
	// IdleFor is how long a runner is kept without work; zero means IdleFor.
	IdleFor time.Duration
}

// minRunners keeps a module that burns all its fuel from holding up every other
// project: each has one batch at a time. Runners have a low priority.
const minRunners = 2

// compilers is how many modules are compiled at once: one that takes until the
// deadline must not keep everybody else's from being compiled.
const compilers = 2

// Pool runs modules in processes that it starts, keeps warm, shares fairly
// between projects, and kills. It is safe for concurrent use.
type Pool struct {
	loader
	warm     warm
	runs     *schedule
	compiles *schedule

	ctx    context.Context
	cancel context.CancelCauseFunc
	mu     sync.Mutex
	closed bool
	active sync.WaitGroup
}

// NewPool opens the compile cache and starts no process yet. The program must
// call runner.MaybeRun first thing in main.
func NewPool(o Options) (*Pool, error) {
	limits, err := o.Limits.complete()
	if err != nil {
		return nil, err
	}
	if o.CacheSize == 0 {
		o.CacheSize = DefaultCacheSize
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Runners == 0 {
		o.Runners = max(minRunners, runtime.NumCPU()-1)
	}
	if o.IdleFor == 0 {
		o.IdleFor = IdleFor
	}
	meterVersion := strconv.Itoa(meter.Version)
	if o.Plain {
		meterVersion = "none"
	}
	c, err := openCache(o.CacheDir, o.CacheSize, meterVersion)
	if err != nil {
		return nil, err
	}
	p := &Pool{
		loader: loader{limits: limits, plain: o.Plain, log: o.Log, cache: c, spawner: runner.NewSpawner()},
		runs:   newSchedule(o.Runners), compiles: newSchedule(compilers),
	}
	p.warm.idleFor = o.IdleFor
	p.ctx, p.cancel = context.WithCancelCause(context.Background())
	return p, nil
}

// Close kills all runners, lets every call return with ErrClosed, and waits for
// both. It may be called more than once.
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.cancel(ErrClosed)
	p.active.Wait()
	p.warm.close()
	p.spawner.Stop()
}

// enter ties a call to the life of the pool.
func (p *Pool) enter(ctx context.Context) (context.Context, func(), error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, nil, ErrClosed
	}
	p.active.Add(1)
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(p.ctx, func() { cancel(ErrClosed) })
	return ctx, func() { stop(); cancel(nil); p.active.Done() }, nil
}

// maxTries is how often a runner is started for one batch, should compiled code
// be trimmed from the cache between compiling and loading.
const maxTries = 3

// borrow waits for the project's turn and returns a worker that has the module
// loaded. The slot is held until giveBack. Compiling needs no slot: a module
// that compiles for half a minute keeps nobody from running.
func (p *Pool) borrow(ctx context.Context, project string, m Module) (w *worker, isWarm bool, err error) {
	k := key{project: project, digest: m.Digest, memory: p.limits.Memory}
	for range maxTries {
		// Before the turn comes, so that it is not lost by compiling.
		if !p.cache.has(m.Digest) {
			if err := p.compile(ctx, project, m); err != nil {
				return nil, false, err
			}
		}
		if err := p.runs.acquire(ctx, project); err != nil {
			return nil, false, p.hostError(m, fmt.Errorf("waiting for a wasm runner: %w", err))
		}
		if w := p.warm.take(k); w != nil {
			return w, true, nil
		}
		process, err := p.load(ctx, m, p.limits.Memory, MaxWall)
		if err == nil {
			p.log.Debug("wasm runner started", "project", k.project, "module", short(m.Digest), "pid", process.Pid(), "seccomp", process.Filtered)
			return &worker{Process: process, key: k}, false, nil
		}
		p.runs.release(project)
		if !errors.Is(err, errNotCompiled) {
			return nil, false, err
		}
	}
	return nil, false, p.hostError(m, fmt.Errorf("loading the module: it was trimmed from the cache %d times (the cache's size limit is too small for the modules in use)", maxTries))
}

// giveBack ends the use of a worker: a fit one is kept warm.
func (p *Pool) giveBack(w *worker, fit bool) {
	if fit {
		p.warm.put(w)
	} else {
		w.Close()
	}
	p.runs.release(w.key.project)
}

// compile brings a module into the cache, when the project's turn has come.
func (p *Pool) compile(ctx context.Context, project string, m Module) error {
	if err := p.compiles.acquire(ctx, project); err != nil {
		return p.hostError(m, fmt.Errorf("waiting to compile: %w", err))
	}
	defer p.compiles.release(project)
	return p.build(ctx, m, p.limits.Memory)
}
