package runner

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

const (
	// maxCrash is how many bytes of a runner's own stderr are kept, to tell
	// why it died: the first ones, for a Go program says why before it lists
	// every goroutine.
	maxCrash = 16 << 10
	// reapDelay is how long a killed runner's pipes may stay open before they
	// are closed by force.
	reapDelay = 5 * time.Second
)

// Process is the server's end of one runner.
type Process struct {
	cmd   *exec.Cmd
	in    *bufio.Writer
	out   *bufio.Reader
	crash *head
	// Filtered tells, after Load, whether the runner's system calls are
	// filtered: not every kernel can.
	Filtered bool
	buf      []byte

	mu     sync.Mutex
	reaped bool
}

// start starts a runner. It must be called on a thread that lives as long as
// the runner may: see Spawner.
func start() (*Process, error) {
	p := &Process{crash: &head{max: maxCrash}, buf: make([]byte, MaxChunk)}
	p.cmd = exec.Command(executable(), argument)
	p.cmd.Args[0] = "ostraka-wasm-runner"
	p.cmd.Env = environment()
	p.cmd.Stderr = p.crash
	p.cmd.WaitDelay = reapDelay
	alone(p.cmd)
	stdin, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("starting a wasm runner: %w", err)
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("starting a wasm runner: %w", err), stdin.Close())
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting a wasm runner: %w", err)
	}
	widen(stdin)
	widen(stdout)
	// A full frame is larger than the writer's buffer and so is not copied to it.
	p.in, p.out = bufio.NewWriterSize(stdin, MaxChunk), bufio.NewReaderSize(stdout, MaxChunk)
	return p, nil
}

// Rejected is the compiler's refusal of a module.
type Rejected struct{ Reason string }

// Error returns the reason.
func (r *Rejected) Error() string { return r.Reason }

// Load gives the runner its limits and its module, and waits until the module
// is compiled or taken from the cache. The runner is killed when ctx ends.
func (p *Process) Load(ctx context.Context, s Setup, module []byte) error {
	defer context.AfterFunc(ctx, p.Kill)()
	s.MaxModule = len(module)
	var answer ready
	err := errors.Join(
		writeJSON(p.in, frameSetup, s),
		writeFrame(p.in, frameModule, module),
		p.in.Flush())
	if err == nil {
		err = expectJSON(p.out, frameReady, &answer)
	}
	switch {
	case err != nil:
		return p.died(ctx, fmt.Errorf("loading the module: %w", err))
	case answer.Rejected != "":
		return &Rejected{answer.Rejected}
	case answer.Failed != "":
		return fmt.Errorf("loading the module: %s", answer.Failed)
	}
	p.Filtered = answer.Filtered
	return nil
}

// Caller is an error of the server's own making: what the input or the output
// of a batch returned.
type Caller struct{ Err error }

// Error describes the error.
func (c *Caller) Error() string { return c.Err.Error() }

// Unwrap returns the caller's error.
func (c *Caller) Unwrap() error { return c.Err }

// Run runs one batch: it sends input while it hands out output. The runner is
// killed when ctx ends or when input or out return an error; then, and whenever
// Run returns an error, the process is of no further use.
//
// Input is read in a goroutine of its own, which has ended when Run returns.
func (p *Process) Run(ctx context.Context, b Batch, input iter.Seq2[[]byte, error], out func([]byte) error) (Outcome, error) {
	defer context.AfterFunc(ctx, p.Kill)()
	if err := errors.Join(writeJSON(p.in, frameBatch, b), p.in.Flush()); err != nil {
		return Outcome{}, p.died(ctx, fmt.Errorf("starting a batch: %w", err))
	}
	ended, fed := make(chan struct{}), make(chan error, 1)
	go func() { fed <- p.killOn(p.feed(input, ended)) }()
	outcome, err := p.collect(out)
	err = p.killOn(err)
	if err != nil || outcome.Unsuccessful() {
		// A module that ends well without reading all is still sent all, so
		// that what was counted on the way does not depend on timing.
		close(ended)
	}
	if err = errors.Join(err, <-fed); err != nil {
		return Outcome{}, p.died(ctx, err)
	}
	return outcome, nil
}

// maxCall is the most bytes of an input that are sent with what starts the
// batch: the smallest pipe of all systems holds both.
const maxCall = 2 << 10

// Call is Run for an input of one piece. A small one is sent at once, so that
// each side wakes the other only once.
func (p *Process) Call(ctx context.Context, b Batch, input []byte, out func([]byte) error) (Outcome, error) {
	if len(input) > maxCall {
		return p.Run(ctx, b, func(yield func([]byte, error) bool) { yield(input, nil) }, out)
	}
	defer context.AfterFunc(ctx, p.Kill)()
	err := errors.Join(writeJSON(p.in, frameBatch, b), writeFrame(p.in, frameInput, input), writeFrame(p.in, frameEnd, nil), p.in.Flush())
	if err != nil {
		return Outcome{}, p.died(ctx, fmt.Errorf("starting a batch: %w", err))
	}
	outcome, err := p.collect(out)
	if err = p.killOn(err); err != nil {
		return Outcome{}, p.died(ctx, err)
	}
	return outcome, nil
}

// killOn kills the runner on an error, so that the other direction ends too.
func (p *Process) killOn(err error) error {
	if err != nil {
		p.Kill()
	}
	return err
}

// feed sends the input until it ends or the batch has failed.
func (p *Process) feed(input iter.Seq2[[]byte, error], ended <-chan struct{}) error {
	frame := make([]byte, frameHead, frameHead+MaxChunk) // in one piece, so that it is sent as it is
	for bytes, err := range input {
		if err != nil {
			return &Caller{err}
		}
		for len(bytes) > 0 {
			n := min(len(bytes), cap(frame)-len(frame))
			frame, bytes = append(frame, bytes[:n]...), bytes[n:]
			if len(frame) < cap(frame) {
				continue
			}
			if err := p.send(frame); err != nil {
				return err
			}
			frame = frame[:frameHead]
		}
		if isClosed(ended) {
			break
		}
	}
	if err := errors.Join(p.send(frame), writeFrame(p.in, frameEnd, nil), p.in.Flush()); err != nil {
		return fmt.Errorf("sending input: %w", err)
	}
	return nil
}

// send sends a frame of input that has room for its head.
func (p *Process) send(frame []byte) error {
	putHead(frame, frameInput, len(frame)-frameHead)
	if _, err := p.in.Write(frame); err != nil {
		return fmt.Errorf("sending input: %w", err)
	}
	return nil
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// collect hands out the output until the runner reports the end.
func (p *Process) collect(out func([]byte) error) (o Outcome, err error) {
	for {
		kind, payload, err := readFrame(p.out, maxControl, p.buf)
		if err != nil {
			return o, fmt.Errorf("receiving output: %w", err)
		}
		switch kind {
		case frameOutput:
			if err := out(payload); err != nil {
				return o, &Caller{err}
			}
		case frameDone:
			if err := json.Unmarshal(payload, &o); err != nil {
				return o, fmt.Errorf("%w: frame %q: %w", errFrame, byte(kind), err)
			}
			return o, nil
		default:
			return o, fmt.Errorf("%w: a frame %q amid the output", errFrame, byte(kind))
		}
	}
}

// Kill ends the runner at once. It may be called at any time, more than once.
func (p *Process) Kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		kill(p.cmd.Process)
	}
}

// Close kills the runner and waits until nothing is left of it.
func (p *Process) Close() *os.ProcessState {
	p.Kill()
	// Waiting under the lock keeps Kill from hitting a process that was reaped
	// and whose number belongs to another by then. It is short: it was killed.
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		_ = p.cmd.Wait() // killed: the state says so
		p.reaped = true
	}
	return p.cmd.ProcessState
}

// Pid returns the runner's process id.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Died says that a runner ended by itself, by a limit of its own or by a crash.
type Died struct {
	State  string // how the process ended
	Memory bool   // it ran out of memory
	Crash  string // the first lines that it wrote
	Err    error  // what the server was doing
}

// Error describes the end in one line.
func (d *Died) Error() string {
	return fmt.Sprintf("%v: the runner ended by itself (%s): %s", d.Err, d.State, firstLine(d.Crash))
}

// Unwrap returns what the server was doing.
func (d *Died) Unwrap() error { return d.Err }

// died reaps the runner and explains an error: the end of ctx and the caller's
// own errors come first, for then it was the server that ended the runner.
func (p *Process) died(ctx context.Context, err error) error {
	state := p.Close()
	var caller *Caller
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &caller):
		return caller
	case errors.Is(err, errFrame):
		return err
	}
	crash := string(p.crash.buf)
	return &Died{State: state.String(), Memory: outOfMemory(crash), Crash: crash, Err: err}
}

// outOfMemory recognises how a Go program ends under RLIMIT_DATA.
func outOfMemory(crash string) bool {
	for _, sign := range []string{"out of memory", "cannot allocate memory", "errno=12", "failed to create new OS thread", "mmap"} {
		if strings.Contains(crash, sign) {
			return true
		}
	}
	return false
}

// head keeps the first bytes that were written to it.
type head struct {
	max int
	buf []byte
}

// Write implements io.Writer and never fails.
func (h *head) Write(p []byte) (int, error) {
	h.buf = append(h.buf, p[:min(len(p), h.max-len(h.buf))]...)
	return len(p), nil
}
