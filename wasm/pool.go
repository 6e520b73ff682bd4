package wasm

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/ostraka/ostraka/wasm/meter"
	"github.com/ostraka/ostraka/wasm/precheck"
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
	limits   Limits
	plain    bool
	log      *slog.Logger
	cache    *cache
	spawner  *runner.Spawner
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
	p := &Pool{limits: limits, plain: o.Plain, log: o.Log, cache: c, spawner: runner.NewSpawner(), runs: newSchedule(o.Runners), compiles: newSchedule(compilers)}
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

// errNotCompiled says that the cache does not hold the module.
var errNotCompiled = errors.New("the module is not compiled")

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
		w, err := p.load(ctx, k, m)
		if err == nil {
			return w, false, nil
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

// load starts a runner with a module that the cache holds.
func (p *Pool) load(ctx context.Context, k key, m Module) (*worker, error) {
	p.cache.mu.RLock()
	defer p.cache.mu.RUnlock()
	if !p.cache.has(m.Digest) {
		return nil, errNotCompiled
	}
	bytes, err := os.ReadFile(p.cache.metered(m.Digest))
	if err != nil {
		return nil, p.hostError(m, fmt.Errorf("reading the metered module: %w", err))
	}
	setup := runner.Setup{
		CacheDir: p.cache.path(m.Digest),
		Memory:   uint64(k.memory),
		Data:     uint64(2*k.memory + runSpare),
		CPU:      cpuLimit(MaxBusy + MaxWall),
	}
	process, err := p.start(ctx, setup, bytes)
	if err != nil {
		return nil, p.hostError(m, err)
	}
	p.log.Debug("wasm runner started", "project", k.project, "module", short(m.Digest), "pid", process.Pid(), "seccomp", process.Filtered)
	return &worker{Process: process, key: k}, nil
}

// start starts a process and gives it the module within the compile deadline.
func (p *Pool) start(ctx context.Context, setup runner.Setup, module []byte) (*runner.Process, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, p.limits.Compile, errCompileDeadline)
	defer cancel()
	process, err := p.spawner.Start()
	if err != nil {
		return nil, err
	}
	if err := process.Load(ctx, setup, module); err != nil {
		process.Close()
		return nil, err
	}
	return process, nil
}

// cpuLimit turns a time by the wall clock into RLIMIT_CPU seconds of a runner,
// which may use two processors. It is a belt: the wall clock is watched outside.
func cpuLimit(wall time.Duration) uint64 { return 2*uint64(wall/time.Second) + 10 }

var errCompileDeadline = errors.New("the compile deadline")

// compile brings a module into the cache: pre-check, then a runner that does
// nothing else and is killed at the deadline.
func (p *Pool) compile(ctx context.Context, project string, m Module) error {
	if err := p.compiles.acquire(ctx, project); err != nil {
		return p.hostError(m, fmt.Errorf("waiting to compile: %w", err))
	}
	defer p.compiles.release(project)
	if p.cache.has(m.Digest) {
		return nil
	}
	bytes, err := m.read(ctx)
	if err != nil {
		return p.hostError(m, err)
	}
	if _, err := p.precheck(bytes); err != nil {
		return err
	}
	began := time.Now()
	if bytes, err = p.instrument(m, bytes); err != nil {
		return err
	}
	err = p.cache.fill(m.Digest, func(dir string) error {
		if err := os.WriteFile(filepath.Join(dir, meteredFile), bytes, 0o600); err != nil {
			return fmt.Errorf("keeping the metered module: %w", err)
		}
		process, err := p.start(ctx, runner.Setup{
			CompileOnly: true,
			CacheDir:    dir,
			Data:        compileData,
			FileSize:    compileFile,
			CPU:         cpuLimit(p.limits.Compile),
		}, bytes)
		if err == nil {
			process.Close()
		}
		return err
	})
	p.log.Debug("wasm module compiled", "project", project, "module", short(m.Digest), "bytes", len(bytes), "took", time.Since(began), "error", err)
	if err != nil {
		return p.compileError(m, err)
	}
	return nil
}

func (p *Pool) precheck(bytes []byte) (precheck.Info, error) {
	info, err := precheck.Check(bytes, precheck.Options{MemoryPages: uint32(p.limits.Memory / PageSize)})
	if err == nil {
		return info, nil
	}
	e := &Error{Class: ClassRejected, Message: err.Error(), Digest: Digest(bytes), Err: err}
	var refusal *precheck.Refusal
	if errors.As(err, &refusal) {
		e.Rule = string(refusal.Rule)
	}
	e.Hint = refusalHint(precheck.Rule(e.Rule))
	return info, e
}

// instrument puts the meter into a module that passed the pre-check.
func (p *Pool) instrument(m Module, bytes []byte) ([]byte, error) {
	if p.plain {
		return bytes, nil
	}
	metered, err := meter.Instrument(bytes)
	if err != nil {
		return nil, &Error{Class: ClassRejected, Rule: RuleMeter, Message: "it cannot be metered: " + clean(err.Error()), Hint: "rebuild it; `wasm-validate` may show the same fault", Digest: m.Digest, Err: err}
	}
	return metered, nil
}

func (p *Pool) hostError(m Module, err error) error {
	return &Error{Class: ClassHost, Message: clean(err.Error()), Hint: "nothing is held against the module; try again", Digest: m.Digest, Err: err}
}

// compileError sorts what went wrong while compiling.
func (p *Pool) compileError(m Module, err error) error {
	var rejected *runner.Rejected
	var died *runner.Died
	e := &Error{Digest: m.Digest, Err: err}
	switch {
	case errors.As(err, &rejected):
		e.Class, e.Message, e.Hint = ClassRejected, "the compiler refused it: "+clean(rejected.Reason), "rebuild it; `wasm-validate` shows the same fault"
	case errors.Is(err, errCompileDeadline):
		e.Class, e.Message, e.Hint = ClassCompileLimit, fmt.Sprintf("compiling takes longer than %s", p.limits.Compile), "make its functions smaller: compile time grows with the square of a function's size"
	case errors.As(err, &died) && died.Memory:
		e.Class, e.Message, e.Hint = ClassCompileLimit, fmt.Sprintf("compiling needs more than %d MiB of memory", compileData>>20), "make its functions smaller"
	case errors.As(err, &died) && died.Crash != "":
		e.Class, e.Message, e.Hint = ClassCompileLimit, "the compiler failed on it: "+clean(died.Error()), "build it with another compiler or other options"
	default:
		return p.hostError(m, fmt.Errorf("compiling: %w", err))
	}
	return e
}
