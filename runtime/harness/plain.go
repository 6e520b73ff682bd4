package harness

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/runtime/canonical"
)

var (
	//go:embed python/plain_head.py
	plainHead string
	//go:embed python/plain.py
	plainMain string
	//go:embed python/facts.py
	factsMain string
	//go:embed python/encode.py
	plainEncode string
	//go:embed python/handler.py
	plainHandler string
	//go:embed python/items.py
	plainItems string
)

// plainProgram is what a plain interpreter runs.
func plainProgram() string { return plainHead + plainEncode + plainHandler + plainItems + plainMain }

// plainWatchEvery is how often the processes of a plain shard are counted: on some systems that takes starting a program.
const plainWatchEvery = time.Second

// Plain runs every shard in an interpreter of its own: for systems on which one
// cannot be forked, macOS and Windows. It decides and reports like a Session;
// see the package process for what it cannot do.
type Plain struct {
	cfg   Config
	facts facts

	mu     sync.Mutex // one shard at a time
	closed bool

	pid     atomic.Int64
	running atomic.Pointer[plainFlight]
	orders  chan string
}

// StartPlain looks at the interpreter. The function is imported by each shard
// anew, in the shard's own time.
func StartPlain(ctx context.Context, cfg Config) (*Plain, error) {
	if err := cfg.prepare(); err != nil {
		return nil, fmt.Errorf("starting a session: %w", err)
	}
	s := &Plain{cfg: cfg, orders: make(chan string, 1)}
	if err := s.learn(ctx); err != nil {
		return nil, fmt.Errorf("starting a session: %w", err)
	}
	return s, nil
}

// learn asks the interpreter what it is.
func (s *Plain) learn(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startGrace)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.cfg.Interpreter, "-s", "-S", "-B", "-c", plainHead+factsMain)
	cmd.Dir, cmd.Env = s.cfg.WorkDir, plainEnvironment(&s.cfg, s.cfg.WorkDir, "")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	said, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(said, &s.facts)
	}
	if err != nil {
		return fmt.Errorf("the interpreter %s does not start; it needs Python 3.9 or later: %w: %s", s.cfg.Interpreter, err, end(stderr.String(), 1000))
	}
	return nil
}

// plainEnvironment is made from nothing but what the system itself needs: what
// differs between machines makes honest agents differ.
func plainEnvironment(cfg *Config, home, mark string) []string {
	env := []string{
		"HOME=" + home, "TMPDIR=" + home, "TEMP=" + home, "TMP=" + home,
		"LC_ALL=C.UTF-8", "TZ=" + cfg.Settings.timeZone(),
		"PYTHONHASHSEED=" + strconv.FormatUint(uint64(cfg.Settings.HashSeed), 10),
		"PYTHONSAFEPATH=1", "PYTHONUTF8=1", "PYTHONDONTWRITEBYTECODE=1", "PYTHONNOUSERSITE=1",
	}
	if mark != "" {
		env = append(env, plainMark+"="+mark)
	}
	return slices.Concat(env, volumesEnvironment(cfg), systemEnvironment())
}

// plainMark is the variable that marks every process of a shard.
const plainMark = "OSTRAKA_SHARD_MARK"

// Run runs the function on one shard. Whatever user code does becomes a Result;
// errors are those of Session.Run.
func (s *Plain) Run(ctx context.Context, shard Shard) (Result, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return Result{}, fmt.Errorf("running shard %d: %w", shard.Index, errClosed)
	}
	if err := canonical.Valid(shard.Input, MaxInputBytes); err != nil {
		return Result{}, fmt.Errorf("running shard %d: %w: %w", shard.Index, ErrInput, err)
	}
	r, err := s.run(ctx, shard)
	if err != nil {
		return Result{}, fmt.Errorf("running shard %d: %w", shard.Index, err)
	}
	r.label(&s.cfg, &s.facts, &shard)
	return r, nil
}

func (s *Plain) run(ctx context.Context, shard Shard) (r Result, err error) {
	root, err := os.OpenRoot(shard.outputDir())
	if err != nil {
		return r, fmt.Errorf("opening the output directory: %w", err)
	}
	defer root.Close()
	f := &plainFlight{cfg: &s.cfg, shard: shard, root: root, mark: uuid.NewString()}
	select { // an order that came when nothing ran
	case <-s.orders:
	default:
	}
	if err := f.start(); err != nil {
		return r, err
	}
	s.running.Store(f)
	s.pid.Store(int64(f.cmd.Process.Pid))
	o := f.wait(ctx, s.orders)
	s.pid.Store(0)
	s.running.Store(nil)
	return f.collect(o)
}

// PID is the interpreter that runs now; 0 when none does.
func (s *Plain) PID() int { return int(s.pid.Load()) }

// OutputBytes is how much the shard that runs now has written so far.
func (s *Plain) OutputBytes() int64 {
	f := s.running.Load()
	if f == nil {
		return 0
	}
	return f.stdout.written() + f.stderr.written()
}

// Kill ends the shard that runs now with StatusKilled and this reason. When
// nothing runs, nothing happens.
func (s *Plain) Kill(reason string) {
	select {
	case s.orders <- reason:
	default: // it is being ended already
	}
}

// Close waits for a Run that is under way.
func (s *Plain) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}

// plainRequest is what stands before the input on the interpreter's standard
// input: its length in four bytes, and itself.
func plainRequest(cfg *Config, shard *Shard, descriptor, handle uintptr) ([]byte, error) {
	l := cfg.Manifest.Limits
	text, err := json.Marshal(map[string]any{
		"config": map[string]any{
			"bundle": cfg.BundleDir, "module": cfg.Manifest.Module(), "callable": cfg.Manifest.Callable(), "script": cfg.Manifest.Script,
			"per_item": cfg.Manifest.IsPerItem(),
			"limits": map[string]int64{
				"cpu_seconds": l.CPUSeconds, "memory_bytes": l.MemoryBytes, "output_bytes": l.OutputBytes,
				"address_space_bytes": l.MemoryBytes + AddressSpaceSlack, "disk_bytes": l.DiskBytes, "open_files": l.OpenFiles,
			},
		},
		"request": map[string]any{
			"shard": shard.Index, "seed": Seed(cfg.Digest, cfg.Settings.Job, shard.Index), "home": shard.Home, "output": shard.Output, "inputs": shard.Inputs,
			"input_bytes": len(shard.Input), "descriptor": descriptor, "handle": handle,
		},
	})
	if err != nil {
		return nil, fmt.Errorf("encoding a request: %w", err)
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...), nil
}

// errNoRoom says that the command line of the system is too short for the program.
var errNoRoom = errors.New("the program does not fit into a command line")

// maxCommandLine is that of Windows, in characters.
const maxCommandLine = 32 << 10

func plainArguments() ([]string, error) {
	program := plainProgram()
	if len(program)+strings.Count(program, `"`) > maxCommandLine-2048 { // each quotation mark takes a backslash there
		return nil, errNoRoom
	}
	return []string{"-s", "-S", "-B", "-c", program}, nil
}
