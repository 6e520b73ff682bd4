package runner

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
	"github.com/tetratelabs/wazero/sys"

	"github.com/ostraka/ostraka/wasm/meter"
)

const (
	// maxPages is the most pages of 64 KiB that WebAssembly knows. The real
	// limit is kept by our allocator, which remembers that it refused.
	maxPages = 65_536
	// programName is argv[0] of every guest, its only argument.
	programName = "module"
	// clockResolution is what the guest is told of its clock, in nanoseconds.
	clockResolution = sys.ClockResolution(clockStep)
)

// guest is the one module of this runner, compiled.
type guest struct {
	runtime  wazero.Runtime
	compiled wazero.CompiledModule
	memory   *memory
	fuel     *fuel // of the batch that runs
}

// load compiles the module, or takes the compiled code from the cache.
func load(ctx context.Context, setup Setup, module []byte) (*guest, ready) {
	cache, err := wazero.NewCompilationCacheWithDir(setup.CacheDir)
	if err != nil {
		return nil, ready{Failed: fmt.Sprintf("opening the compile cache: %v", err)}
	}
	config := wazero.NewRuntimeConfigCompiler().
		WithCoreFeatures(api.CoreFeaturesV2).
		WithMemoryLimitPages(maxPages).
		WithDebugInfoEnabled(false).
		WithCompilationCache(cache)
	runtime := wazero.NewRuntimeWithConfig(ctx, config)
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, runtime); err != nil {
		return nil, ready{Failed: fmt.Sprintf("offering WASI: %v", err)}
	}
	g := &guest{runtime: runtime, memory: &memory{limit: setup.Memory}}
	if err := g.offerTick(ctx); err != nil {
		return nil, ready{Failed: fmt.Sprintf("offering the meter: %v", err)}
	}
	if g.compiled, err = runtime.CompileModule(ctx, module); err != nil {
		return nil, ready{Rejected: firstLine(err.Error())}
	}
	return g, ready{}
}

// run runs one fresh instance to its end.
func (g *guest) run(ctx context.Context, b Batch, stdin *inputReader, stdout *outputWriter) (o Outcome) {
	g.fuel = newFuel(b)
	stdin.toll, stdout.toll = g.fuel.charge, g.fuel.charge
	stderr := &tail{max: b.MaxStderr, toll: g.fuel.charge}
	c := &clock{base: b.Now}
	config := wazero.NewModuleConfig().
		WithName("").
		WithArgs(programName).
		WithStdin(stdin).WithStdout(stdout).WithStderr(stderr).
		WithWalltime(c.wall, clockResolution).
		WithNanotime(c.nano, clockResolution).
		WithNanosleep(c.sleep).
		WithRandSource(rand.NewChaCha8(b.Seed)).
		WithStartFunctions()
	g.memory.refused.Store(false)
	g.memory.short.Store(false)
	defer func() {
		if p := recover(); p != nil {
			o.Failed = fmt.Sprintf("instantiating: %v", p)
		}
		o.Stderr, o.StderrBytes = stderr.bytes(), stderr.total
		if g.memory.refused.Load() {
			o.Exceeded = ExceededMemory
		}
		if g.fuel.exceeded != "" {
			o.Exceeded = g.fuel.exceeded
		}
		if g.memory.short.Load() { // whatever came of it, another machine may have come to something else
			o.Exceeded = ExceededMachine
		}
		o.Fuel = g.fuel.used()
	}()
	ctx = experimental.WithMemoryAllocator(ctx, g.memory)
	instance, err := g.runtime.InstantiateModule(ctx, g.compiled, config)
	if err != nil {
		o.end(err)
		return o
	}
	// Closing gives the memory back; a guest that just returns stays alive otherwise.
	defer func() { _ = instance.Close(ctx) }()
	g.fuel.rest, _ = instance.ExportedGlobal(meter.ExportFuel).(api.MutableGlobal)
	if start := instance.ExportedFunction(meter.ExportStart); start != nil {
		_, err = start.Call(ctx)
	}
	if err == nil {
		_, err = instance.ExportedFunction("_start").Call(ctx)
	}
	o.Memory = uint64(instance.Memory().Size())
	o.end(err)
	return o
}

// end records how the guest's code ended.
func (o *Outcome) end(err error) {
	var exit *sys.ExitError
	switch {
	case err == nil:
	case errors.As(err, &exit):
		o.ExitCode = exit.ExitCode()
	default:
		o.Trap, o.Frames = parseTrap(err.Error())
	}
}

// parseTrap takes wazero's text of a trap apart: the reason, then the frames.
func parseTrap(text string) (string, []string) {
	reason, stack, _ := strings.Cut(text, "wasm stack trace:")
	reason = strings.TrimPrefix(strings.TrimSpace(reason), "wasm error: ")
	var frames []string
	for line := range strings.Lines(stack) {
		if line = strings.TrimSpace(line); line != "" && len(frames) < MaxFrames {
			frames = append(frames, shorten(line))
		}
	}
	return firstLine(reason), frames
}

// maxText is how many bytes of a reason or a frame are kept: both may carry
// names that the module chose.
const maxText = 300

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return shorten(line)
}

func shorten(text string) string {
	if len(text) > maxText {
		return text[:maxText] + "…"
	}
	return text
}
