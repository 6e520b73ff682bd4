package wasmbox

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/canonical"
	"github.com/ostraka/ostraka/runtime/harness"
	"github.com/ostraka/ostraka/runtime/inputdir"
	"github.com/ostraka/ostraka/runtime/monitor"
	"github.com/ostraka/ostraka/wasm"
	"github.com/ostraka/ostraka/wasm/runner"
)

// Sandbox runs the shards of a function, one after the other, each in an instance of its own.
type Sandbox struct {
	runner *Runner
	digest string // of the bundle
	limits bundle.Limits
	schema *bundle.OutputSchema

	run     sync.Mutex // one shard at a time
	job     string
	command *wasm.Command
	failure *verdict // the module cannot be loaded, which every shard reports

	mu      sync.Mutex
	process *runner.Process // that can be killed; nil: none
	running bool
	order   string // why the shard that runs was ended from outside
}

// note remembers the process for those who look from outside.
func (s *Sandbox) note() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.process = s.command.Process()
}

// Run runs one shard. Whatever the module does is in the result; an error means that the shard was not run to an end: the context ended,
// the input is not acceptable, or the machine failed.
func (s *Sandbox) Run(ctx context.Context, index int64, input []byte) (harness.Result, error) {
	s.run.Lock()
	defer s.run.Unlock()
	if err := canonical.Valid(input, harness.MaxInputBytes); err != nil {
		return harness.Result{}, fmt.Errorf("running shard %d: %w: %w", index, harness.ErrInput, err)
	}
	r, err := s.shard(ctx, index, input)
	if err != nil {
		return harness.Result{}, fmt.Errorf("running shard %d: %w", index, err)
	}
	r.Shard, r.InputBytes, r.Files = index, int64(len(input)), []harness.File{}
	r.Isolation, r.Interpreter, r.Platform, r.Libc = string(bundle.Wasm), s.runner.name, Platform(), "none"
	return r, nil
}

func (s *Sandbox) shard(ctx context.Context, index int64, input []byte) (r harness.Result, err error) {
	began := time.Now()
	var a wasm.Answer
	v := s.failure
	if v == nil {
		if a, v, err = s.call(ctx, index, input); err != nil {
			return r, err
		}
	}
	r = harness.Result{
		Status: v.status, Exception: v.exception(a.Frames), ExitCode: int(int32(a.ExitCode)), StdoutDigest: canonical.Digest(nil),
		StderrBytes: a.StderrBytes, StderrTail: harness.Clean(string(a.Stderr)), StartedAt: stamp(began), EndedAt: stamp(time.Now()),
		CPUMicros: a.CPU.Microseconds(), WallMicros: a.Wall.Microseconds(), PeakRSSBytes: int64(a.Memory), Fuel: a.Fuel, Meter: wasm.Meter,
	}
	switch v.status {
	case harness.StatusOK:
		r.Output, r.OutputBytes, r.OutputDigest = string(v.output), int64(len(v.output)), canonical.Digest(v.output)
	default:
		r.OutputBytes = int64(len(a.Stdout))
	}
	return r, nil
}

// call runs the module on a shard and says what came of it.
func (s *Sandbox) call(ctx context.Context, index int64, input []byte) (wasm.Answer, *verdict, error) {
	var line bytes.Buffer
	if err := json.Compact(&line, input); err != nil {
		return wasm.Answer{}, nil, err
	}
	line.WriteByte('\n')
	if err := s.command.Ready(ctx); err != nil {
		if s.failure = ofModule(err); s.failure != nil {
			return wasm.Answer{}, s.failure, nil
		}
		return wasm.Answer{}, nil, err
	}
	s.begin()
	a, err := s.command.Run(ctx, wasm.Call{
		Stdin: line.Bytes(), Seed: seedOf(s.digest, s.job, index), Now: wasm.Epoch, Wall: time.Duration(s.limits.WallSeconds) * time.Second,
		Fuel: s.limits.Fuel, Output: s.limits.OutputBytes, Stderr: harness.TailBytes,
	})
	order := s.end()
	var died *runner.Died
	switch {
	case err == nil:
		v := decide(&a, s.limits, s.schema)
		return a, &v, nil
	case order != "":
		v := failed(harness.StatusKilled, harness.ExceptionKilled, "%s", order)
		return a, &v, nil
	case errors.As(err, &died):
		v := ofDeath(died)
		return a, &v, nil
	}
	return a, nil, err
}

// begin says that a shard runs from now on.
func (s *Sandbox) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.process, s.running, s.order = s.command.Process(), true, ""
}

// end says that none does, and why the last was ended from outside, if it was.
func (s *Sandbox) end() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.process, s.running = s.command.Process(), false
	return s.order
}

// Kill ends the shard that runs now and says why in its result.
func (s *Sandbox) Kill(reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running && s.order == "" && s.process != nil {
		s.order = reason
		s.process.Kill()
	}
}

// Target is where the monitor finds the sandbox. It may be called at any time.
func (s *Sandbox) Target() monitor.Target {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process == nil {
		return monitor.Target{}
	}
	return monitor.Target{PID: s.process.Pid()}
}

// OutputBytes is always 0: what a function prints is its result, and has a limit of its own.
func (*Sandbox) OutputBytes() int64 { return 0 }

// OutputDir is empty: such a function leaves no files.
func (*Sandbox) OutputDir() string { return "" }

// Inputs is nil: such a function reads no files.
func (*Sandbox) Inputs() *inputdir.Dir { return nil }

// Rest says that the sandbox can be kept: nothing runs in it between two shards.
func (s *Sandbox) Rest() bool { return s.failure == nil }

// Wake has the next shards belong to another job of the project.
func (s *Sandbox) Wake(job string) error {
	s.run.Lock()
	defer s.run.Unlock()
	s.job = job
	return nil
}

// Close ends the process.
func (s *Sandbox) Close() error {
	s.run.Lock()
	defer s.run.Unlock()
	s.mu.Lock()
	s.process = nil
	s.mu.Unlock()
	s.command.Close()
	return nil
}

// seedOf is where a shard's random numbers begin: the SHA-256 of a line with harness.Seed in decimal.
func seedOf(digest, job string, index int64) [32]byte {
	return sha256.Sum256([]byte("ostraka-random/1 " + strconv.FormatUint(harness.Seed(digest, job, index), 10) + "\n"))
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
