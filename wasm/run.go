package wasm

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/ostraka/ostraka/wasm/runner"
)

// Stats is what one batch took.
type Stats struct {
	InLines  int64 // records that were sent: all of them, unless the batch failed
	InBytes  int64
	OutLines int64
	OutBytes int64
	Memory   int64         // bytes of linear memory at the end, which is the peak
	Fuel     int64         // units: the same in every run of the same batch, on every machine
	CPU      time.Duration // processor time of the runner for the batch
	Wall     time.Duration // of the batch alone, without waiting, starting and compiling
	Stderr   string        // the tail of stderr
	Warm     bool          // the runner was warm
}

// Run runs one batch: a fresh instance of the module reads the header and the
// records, and out gets every line that it prints, without its line end and
// only until the next call. Both are streams with backpressure: the records are
// read as the module reads them, and a slow out slows the module.
//
// Records are single lines of JSON without a line end. They are read in another
// goroutine, which has ended when Run returns; an iterator that may block must
// watch ctx itself. What out got counts only if Run returns no error.
//
// Errors are *Error. An error of records or out is of class host and wraps it.
func (p *Pool) Run(ctx context.Context, project string, m Module, h Header, records iter.Seq2[[]byte, error], out func(line []byte) error) (Stats, error) {
	ctx, leave, err := p.enter(ctx)
	if err != nil {
		return Stats{}, p.hostError(m, err)
	}
	defer leave()
	b, err := p.newBatch(m, h, records, out)
	if err != nil {
		return Stats{}, p.hostError(m, err)
	}
	w, isWarm, err := p.borrow(ctx, project, m)
	if err != nil {
		return Stats{}, err
	}
	b.stats.Warm = isWarm
	fit, err := b.run(ctx, w)
	p.giveBack(w, fit)
	if err != nil && (h.Phase != PhaseDescribe || b.outcome.ExitCode != ExitUnsupported) {
		p.log.Warn("wasm batch failed", "project", project, "module", short(m.Digest), "job", h.Job, "phase", h.Phase, "error", err)
	}
	return b.stats, err
}

var (
	errWall = errors.New("the batch's deadline")
	// errOverLimit says that a runner passed on more output than it should
	// have: the module got hold of it.
	errOverLimit = errors.New("the runner sent more output than its limit")
	// errTooManyLines ends a module that prints ever more lines.
	errTooManyLines = errors.New("too many lines of stdout")
)

// batch is one run in the making.
type batch struct {
	pool    *Pool
	module  Module
	limits  Limits
	spec    runner.Batch
	feed    feeder
	split   splitter
	outcome runner.Outcome
	stats   Stats
}

// limitsOf are the pool's limits for one batch.
func (p *Pool) limitsOf(h Header) Limits {
	limits := p.limits
	if h.Fuel > 0 {
		limits.Fuel = min(limits.Fuel, h.Fuel)
	}
	if h.Kind == KindAggregator {
		// A partial or a final is one line; it may take all of the output.
		limits.Line = max(limits.Line, min(limits.Output, MaxLine))
	}
	return limits
}

// input is what a module reads in a batch, line by line.
func (p *Pool) input(m Module, h Header, records iter.Seq2[[]byte, error]) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		h, err := h.complete(m.Digest)
		var header []byte
		if err == nil {
			header, err = h.line(m.Digest, p.limitsOf(h))
		}
		if !yield(header, err) || err != nil || records == nil {
			return
		}
		for record, err := range records {
			if !yield(record, err) || err != nil {
				return
			}
		}
	}
}

func (p *Pool) newBatch(m Module, h Header, records iter.Seq2[[]byte, error], out func([]byte) error) (*batch, error) {
	limits := p.limitsOf(h)
	h, err := h.complete(m.Digest)
	if err != nil {
		return nil, err
	}
	header, err := h.line(m.Digest, limits)
	if err != nil {
		return nil, err
	}
	return &batch{
		pool: p, module: m, limits: limits,
		spec:  runner.Batch{Seed: h.Seed, Now: h.Now, MaxOutput: limits.Output, MaxLine: limits.Line, MaxStderr: limits.Stderr, Fuel: limits.Fuel, Wall: limits.Wall},
		feed:  feeder{header: header, records: records, maxLine: limits.Line},
		split: splitter{limits: limits, out: out},
	}, nil
}

// run runs the batch on a worker and tells whether that may be used again.
func (b *batch) run(ctx context.Context, w *worker) (fit bool, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, b.limits.Wall+WallGrace, errWall)
	defer cancel()
	began := time.Now()
	b.outcome, err = w.Run(ctx, b.spec, b.feed.all, b.split.write)
	fit = err == nil
	var endErr error
	if fit {
		endErr = b.split.end()
	}
	b.stats.Wall = time.Since(began)
	w.jobs++
	w.busy += b.stats.Wall
	b.stats.InLines, b.stats.InBytes = b.feed.lines, b.feed.bytes
	b.stats.OutLines, b.stats.OutBytes = b.split.lines, b.split.bytes
	b.stats.Memory, b.stats.Fuel, b.stats.CPU = int64(b.outcome.Memory), b.outcome.Fuel, b.outcome.CPU
	b.stats.Stderr = clean(string(b.outcome.Stderr))
	if err := errors.Join(err, endErr); err != nil {
		return false, b.broken(err)
	}
	return true, b.judge()
}

// failure starts an Error with what is known of the batch.
func (b *batch) failure(class Class, hint, format string, args ...any) *Error {
	s := b.stats
	return &Error{
		Class: class, Message: fmt.Sprintf(format, args...), Hint: hint, Digest: b.module.Digest,
		ExitCode: b.outcome.ExitCode, Stderr: s.Stderr, Header: string(b.feed.header),
		InLines: s.InLines, OutLines: s.OutLines, Memory: s.Memory, Fuel: s.Fuel, Wall: s.Wall,
	}
}

// broken explains a batch that did not come to its end.
func (b *batch) broken(err error) error {
	var died *runner.Died
	var e *Error
	switch {
	case errors.Is(err, errWall):
		e = b.tooLong()
	case errors.Is(err, errOverLimit):
		e = b.failure(ClassOutputLimit, "", "%v", errOverLimit)
	case errors.Is(err, errTooManyLines):
		e = b.failure(ClassOutputLimit, "print less, or aggregate more", "the module printed more than %d lines", MaxLines)
	case errors.As(err, &died) && (died.Memory || strings.Contains(died.Crash, "SIGSEGV")):
		e = b.failure(ClassMemoryLimit, "keep less in memory", "the module's process ran out of memory (%s)", died.State)
	default:
		e = b.failure(ClassHost, "nothing is held against the module; try again", "%s", clean(err.Error()))
	}
	e.Err = err
	return e
}

func (b *batch) tooLong() *Error {
	return b.failure(ClassDeadline, "it is tried again; if it happens always, the machine is overloaded", "the batch took longer than %s", b.limits.Wall)
}

// judge decides what the outcome of a batch that came to its end means.
func (b *batch) judge() error {
	o := b.outcome
	switch {
	case o.Exceeded == runner.ExceededMachine:
		return b.failure(ClassHost, "nothing is held against the module; try again", "the machine has no memory left")
	case o.Exceeded == runner.ExceededOutput:
		return b.withLast(b.failure(ClassOutputLimit, "print less, or aggregate more", "the module printed more than %d bytes", b.limits.Output))
	case o.Exceeded == runner.ExceededLine:
		return b.withLast(b.failure(ClassOutputLimit, "print shorter lines", "the module printed a line longer than %d bytes", b.limits.Line))
	case o.Exceeded == runner.ExceededFuel:
		return b.withLast(b.failure(ClassFuel, "it loops, or does too much for one batch; `ostraka module test` shows what a batch uses", "the module used up its fuel of %d units", b.limits.Fuel))
	case o.Exceeded == runner.ExceededWall:
		return b.tooLong()
	case o.Exceeded == runner.ExceededMemory && o.Unsuccessful():
		return b.withTrap(b.failure(ClassMemoryLimit, "keep less in memory", "the module failed after it was refused more than %d MiB of memory", b.limits.Memory>>20))
	case o.Failed != "":
		return b.failure(ClassHost, "nothing is held against the module; try again", "%s", clean(o.Failed))
	case o.Trap != "":
		return b.withTrap(b.failure(ClassTrap, "see the frames and stderr", "the module's code failed: %s", clean(o.Trap)))
	case o.ExitCode != 0:
		return b.exited()
	case b.split.bad != nil:
		return b.failure(ClassBadOutput, "stdout is for JSON lines; print diagnostics to stderr", "%s", clean(b.split.bad.Error()))
	}
	return nil
}

func (b *batch) withTrap(e *Error) *Error {
	e.Trap = clean(b.outcome.Trap)
	for _, f := range b.outcome.Frames {
		e.Frames = append(e.Frames, clean(f))
	}
	return e
}

func (b *batch) exited() *Error {
	meaning, hint := "it has no meaning in the contract", "see stderr"
	switch b.outcome.ExitCode {
	case ExitUnsupported:
		meaning, hint = "it does not support this kind or phase", "use a module of the right kind"
	case ExitBadInput:
		meaning, hint = "it does not understand a record or its parameters", "see stderr"
	case ExitTemporary:
		meaning, hint = "it asks to be tried again", "see stderr"
	}
	return b.withLast(b.failure(ClassExit, hint, "the module ended with code %d: %s", b.outcome.ExitCode, meaning))
}

// withLast adds what the module said last on stderr.
func (b *batch) withLast(e *Error) *Error {
	if last := lastLine(e.Stderr); last != "" {
		e.Message += ": " + last
	}
	return e
}

// lastLine returns the last line of stderr that says something: languages print
// the reason last, or alone.
func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	const most = 300
	last := strings.TrimSpace(lines[len(lines)-1])
	if len(last) > most {
		last = strings.ToValidUTF8(last[:most], "") + "…"
	}
	return last
}
