package wasmbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/harness"
	"github.com/ostraka/ostraka/wasm"
)

// Config says where sandboxes live.
type Config struct {
	Dir        string // compiled modules; private. One that is not is emptied
	CacheBytes int64  // how much they may take; 0: DefaultCacheBytes
	Log        *slog.Logger
}

// DefaultCacheBytes bounds the compiled modules of a machine: the one used longest ago goes first.
const DefaultCacheBytes = 256 << 20

// Overhead is the memory that a runner's process may take beside its instance's.
const Overhead = 256 << 20

// Runner opens sandboxes of the level `wasm`. It is safe for concurrent use. The program must call runner.MaybeRun first thing in main.
type Runner struct {
	commands *wasm.Commands
	name     string
}

// New makes Dir if it is missing, and starts no process yet.
func New(cfg Config) (*Runner, error) {
	if cfg.CacheBytes == 0 {
		cfg.CacheBytes = DefaultCacheBytes
	}
	options := wasm.CommandOptions{CacheDir: cfg.Dir, CacheSize: cfg.CacheBytes, Log: cfg.Log}
	commands, err := wasm.NewCommands(options)
	if errors.Is(err, wasm.ErrNotPrivate) { // a copy from a backup, perhaps: what others could have changed is compiled again
		if err = os.RemoveAll(cfg.Dir); err == nil {
			commands, err = wasm.NewCommands(options)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("preparing functions in WebAssembly: %w", err)
	}
	engine := commands.Engine()
	if i := strings.LastIndexByte(engine, '/'); i > 0 { // without the architecture, which the platform says
		engine = engine[:i]
	}
	if len(engine) > maxEngine { // the digest of a binary without build information
		engine = engine[:maxEngine]
	}
	return &Runner{commands: commands, name: fmt.Sprintf("wasm (meter %d, %s)", wasm.Meter, engine)}, nil
}

const maxEngine = 24

// Level is the isolation that sandboxes of this runner achieve.
func (*Runner) Level() bundle.Isolation { return bundle.Wasm }

// Interpreter names what functions are executed by, with the version of the meter.
func (r *Runner) Interpreter() string { return r.name }

// Platform names the machine as results do.
func Platform() string { return runtime.GOOS + " " + machineOf(runtime.GOARCH) }

// machineOf is an architecture as Python calls it, so that agents of one machine say the same whatever they run.
func machineOf(arch string) string {
	switch {
	case arch == "amd64" && runtime.GOOS != "windows":
		return "x86_64"
	case arch == "arm64" && runtime.GOOS == "linux":
		return "aarch64"
	}
	return arch
}

// Close ends the runner, after its sandboxes.
func (r *Runner) Close() error {
	r.commands.Close()
	return nil
}

// openGrace is how long compiling and starting may take beyond what the compiler has.
const openGrace = 10 * time.Second

// Open prepares a sandbox for the shards of a function. A module that cannot be compiled is no error here: every shard reports it.
func (r *Runner) Open(ctx context.Context, b *bundle.Bundle, settings harness.Settings) (*Sandbox, error) {
	module := b.Module()
	switch {
	case module == nil:
		return nil, fmt.Errorf("opening a sandbox for %s: it is no function in WebAssembly", b.Manifest.Name)
	case !r.Level().AtLeast(b.Manifest.MinIsolation):
		return nil, fmt.Errorf("opening a sandbox for %s: it asks for isolation %q, this one is only %q", b.Manifest.Name, b.Manifest.MinIsolation, r.Level())
	}
	schema, err := b.Manifest.OutputSchema()
	if err != nil {
		return nil, fmt.Errorf("opening a sandbox for %s: %w", b.Manifest.Name, err)
	}
	limits := b.Manifest.Limits
	s := &Sandbox{runner: r, digest: b.Digest, limits: limits, schema: schema, job: settings.Job}
	command, err := r.commands.Open(ctx, wasm.FromBytes(module), limits.MemoryBytes, time.Duration(limits.WallSeconds)*time.Second+openGrace)
	s.command = command
	if s.failure = ofModule(err); s.failure != nil || err == nil {
		s.note()
		return s, nil
	}
	return nil, errors.Join(fmt.Errorf("opening a sandbox for %s: %w", b.Manifest.Name, err), s.Close())
}

// ofModule is what every shard reports when an error is the module's fault; nil where it is not.
func ofModule(err error) *verdict {
	var failed *wasm.Error
	if !errors.As(err, &failed) || failed.Operational() {
		return nil
	}
	status := harness.StatusError
	if failed.Class == wasm.ClassCompileLimit {
		status = harness.StatusTimeout
	}
	return &verdict{status: status, kind: harness.ExceptionImport, message: "the module cannot be loaded: " + failed.Message, hint: failed.Hint}
}
