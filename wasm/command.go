package wasm

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/ostraka/ostraka/wasm/meter"
	"github.com/ostraka/ostraka/wasm/runner"
)

// Meter names the version of the meter: fuel that two versions have counted
// cannot be compared.
const Meter = meter.Version

// CommandOptions configure Commands.
type CommandOptions struct {
	// CacheDir keeps compiled modules. It is made with mode 0700 and must
	// belong to this user alone.
	CacheDir string
	// CacheSize bounds it in bytes; zero means DefaultCacheSize.
	CacheSize int64
	// Log receives what is compiled and started; nil means none.
	Log *slog.Logger
}

// Commands run modules as plain commands: bytes on stdin, bytes on stdout, and
// nothing of the contract of modules. Unlike in a Pool each caller has a process
// of its own for as long as it wants. They are safe for concurrent use.
type Commands struct {
	loader
	compiling chan struct{} // one token for each compiler that runs
}

// maxCompilers is how many modules are compiled at a time: a compiler may take
// compileData, whatever the module is allowed when it runs.
const maxCompilers = 2

// NewCommands opens the compile cache and starts no process yet. The program
// must call runner.MaybeRun first thing in main.
func NewCommands(o CommandOptions) (*Commands, error) {
	if o.CacheSize == 0 {
		o.CacheSize = DefaultCacheSize
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	c, err := openCache(o.CacheDir, o.CacheSize, fmt.Sprint(meter.Version))
	if err != nil {
		return nil, err
	}
	return &Commands{
		loader:    loader{limits: DefaultLimits(), log: o.Log, cache: c, spawner: runner.NewSpawner()},
		compiling: make(chan struct{}, maxCompilers),
	}, nil
}

// Engine names what modules are compiled by, and for what.
func (c *Commands) Engine() string { return c.cache.engine }

// Close lets no further process start. Commands should have been closed before.
func (c *Commands) Close() { c.spawner.Stop() }

// compile brings a module into the cache, when its turn comes.
func (c *Commands) compile(ctx context.Context, m Module, memory int64) error {
	if c.cache.has(m.Digest) {
		return nil
	}
	select {
	case c.compiling <- struct{}{}:
	case <-ctx.Done():
		return c.hostError(m, fmt.Errorf("waiting for the compiler: %w", context.Cause(ctx)))
	}
	defer func() { <-c.compiling }()
	return c.build(ctx, m, memory) // somebody may have compiled it meanwhile
}

// Command is one module, in a process that runs one call at a time. Each call
// has an instance of its own.
type Command struct {
	commands *Commands
	module   Module
	memory   int64
	wall     time.Duration
	process  *runner.Process // nil: the next call starts one
	calls    int
	busy     time.Duration
}

// Open makes sure that the module is compiled and starts its process. memory is
// what an instance may have, wall the longest that a call may take. An *Error
// that is not operational is the module's fault.
func (c *Commands) Open(ctx context.Context, m Module, memory int64, wall time.Duration) (*Command, error) {
	x := &Command{commands: c, module: m, memory: memory, wall: wall}
	return x, x.Ready(ctx)
}

// Ready makes sure of a process that has the module loaded, as Run does.
func (x *Command) Ready(ctx context.Context) error {
	for try := 0; x.process == nil; try++ {
		if try == maxTries {
			return x.commands.hostError(x.module, fmt.Errorf("loading the module: it was trimmed from the cache %d times (the cache's size limit is too small for the modules in use)", maxTries))
		}
		if err := x.commands.compile(ctx, x.module, x.memory); err != nil {
			return err
		}
		process, err := x.commands.load(ctx, x.module, x.memory, x.wall)
		if err != nil && !errors.Is(err, errNotCompiled) {
			return err
		}
		x.process, x.calls, x.busy = process, 0, 0
	}
	return nil
}

// Process is the process that the next call runs in, once Ready has made
// sure of one: a watcher of a call can kill it.
func (x *Command) Process() *runner.Process { return x.process }

// Close ends the process. No call may be under way.
func (x *Command) Close() {
	if x.process != nil {
		x.process.Close()
		x.process = nil
	}
}

// Call is one run of a module.
type Call struct {
	Stdin  []byte
	Seed   [32]byte  // of the random source
	Now    time.Time // where the clock starts
	Wall   time.Duration
	Fuel   int64
	Output int64 // bytes of stdout
	Stderr int   // bytes of stderr that are kept, the last ones
}

// Answer is what a call has left.
type Answer struct {
	runner.Outcome
	Stdout []byte
	Wall   time.Duration
}

// Run runs one call. Whatever the module does is in the answer; an error means
// that its process is gone: the context has ended, somebody killed it, it died
// of a limit (*runner.Died), or the machine failed.
func (x *Command) Run(ctx context.Context, call Call) (a Answer, err error) {
	if err := x.Ready(ctx); err != nil {
		return a, err
	}
	bounded, cancel := context.WithTimeoutCause(ctx, call.Wall+WallGrace, errWall)
	defer cancel()
	spec := runner.Batch{Seed: call.Seed, Now: call.Now, MaxOutput: call.Output, MaxLine: call.Output, MaxStderr: call.Stderr, Fuel: call.Fuel, Wall: call.Wall}
	began := time.Now()
	a.Outcome, err = x.process.Call(bounded, spec, call.Stdin, func(chunk []byte) error {
		if int64(len(a.Stdout)+len(chunk)) > call.Output {
			return errOverLimit
		}
		a.Stdout = append(a.Stdout, chunk...)
		return nil
	})
	a.Wall = time.Since(began)
	x.calls++
	x.busy += a.Wall
	if err != nil || x.calls >= MaxJobs || x.busy >= MaxBusy {
		x.Close()
	}
	switch {
	case errors.Is(err, errWall):
		a.Exceeded = runner.ExceededWall
		return a, nil
	case errors.Is(err, errOverLimit):
		a.Exceeded = runner.ExceededOutput
		return a, nil
	case err != nil:
		return a, fmt.Errorf("running the module: %w", err)
	}
	return a, nil
}
