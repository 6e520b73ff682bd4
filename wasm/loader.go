package wasm

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/ostraka/ostraka/wasm/meter"
	"github.com/ostraka/ostraka/wasm/precheck"
	"github.com/ostraka/ostraka/wasm/runner"
)

// loader compiles modules into the cache and starts runners that have one
// loaded.
type loader struct {
	limits  Limits
	plain   bool // without the meter
	log     *slog.Logger
	cache   *cache
	spawner *runner.Spawner
}

// errNotCompiled says that the cache does not hold the module.
var errNotCompiled = errors.New("the module is not compiled")

// load starts a runner with a module that the cache holds. memory is what its guests may have, wall how long one of them may be at it.
func (p *loader) load(ctx context.Context, m Module, memory int64, wall time.Duration) (*runner.Process, error) {
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
		Memory:   uint64(memory),
		Data:     uint64(2*memory + runSpare),
		CPU:      cpuLimit(MaxBusy + wall),
	}
	process, err := p.start(ctx, setup, bytes)
	if err != nil {
		return nil, p.hostError(m, err)
	}
	return process, nil
}

// start starts a process and gives it the module within the compile deadline.
func (p *loader) start(ctx context.Context, setup runner.Setup, module []byte) (*runner.Process, error) {
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

// build brings a module into the cache: pre-check, meter, then a runner that does
// nothing else and is killed at the deadline.
func (p *loader) build(ctx context.Context, m Module, memory int64) error {
	if p.cache.has(m.Digest) {
		return nil
	}
	bytes, err := m.read(ctx)
	if err != nil {
		return p.hostError(m, err)
	}
	if _, err := p.precheck(bytes, memory); err != nil {
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
	p.log.Debug("wasm module compiled", "module", short(m.Digest), "bytes", len(bytes), "took", time.Since(began), "error", err)
	if err != nil {
		return p.compileError(m, err)
	}
	return nil
}

func (p *loader) precheck(bytes []byte, memory int64) (precheck.Info, error) {
	info, err := precheck.Check(bytes, precheck.Options{MemoryPages: uint32(memory / PageSize)})
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
func (p *loader) instrument(m Module, bytes []byte) ([]byte, error) {
	if p.plain {
		return bytes, nil
	}
	metered, err := meter.Instrument(bytes)
	if err != nil {
		return nil, &Error{Class: ClassRejected, Rule: RuleMeter, Message: "it cannot be metered: " + clean(err.Error()), Hint: "rebuild it; `wasm-validate` may show the same fault", Digest: m.Digest, Err: err}
	}
	return metered, nil
}

func (p *loader) hostError(m Module, err error) error {
	return &Error{Class: ClassHost, Message: clean(err.Error()), Hint: "nothing is held against the module; try again", Digest: m.Digest, Err: err}
}

// compileError sorts what went wrong while compiling.
func (p *loader) compileError(m Module, err error) error {
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
