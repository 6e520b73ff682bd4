package harness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/canonical"
)

// flight is a shard that is running.
type flight struct {
	z      *zygote
	seq    uint64
	limits bundle.Limits
	wall   time.Duration
	root   *os.Root // of $OSTRAKA_OUTPUT, opened before user code ran

	stdout, stderr *output
	answer         *os.File // the result pipe
	frames         chan frame
	full           chan struct{} // closed when the output is over its limit

	started time.Time
}

// outcome is what the flight came to.
type outcome struct {
	ending
	peakRSS int64
	ended   time.Time
	last    bool  // the zygote leaves: only that ends all that is left
	err     error // the context ended
}

// pipes are the ends that the shard gets, in the order that it expects.
type pipes struct{ stdin, stdout, stderr, result *os.File }

func (p *pipes) files() []*os.File { return []*os.File{p.stdin, p.stdout, p.stderr, p.result} }

func (p *pipes) close() {
	for _, f := range p.files() {
		if f != nil {
			_ = f.Close() // only the shard's copies matter from now on
		}
	}
}

// launch hands the shard to the interpreter and starts to read what it writes.
func launch(z *zygote, seq uint64, shard Shard, cfg *Config) (*flight, error) {
	root, err := os.OpenRoot(shard.outputDir())
	if err != nil {
		return nil, fmt.Errorf("opening the output directory: %w", err)
	}
	f := &flight{
		z: z, seq: seq, limits: cfg.Manifest.Limits, wall: cfg.wall(), root: root,
		frames: make(chan frame, 1), full: make(chan struct{}),
	}
	var p pipes
	defer p.close()
	if err := f.open(&p, shard.Input); err != nil {
		return nil, errors.Join(err, f.abandon())
	}
	order := message{Op: "run", Seq: seq, Home: shard.Home, Output: shard.Output}
	fds := make([]int, 0, 4)
	for _, file := range p.files() {
		fds = append(fds, int(file.Fd()))
	}
	f.started = time.Now()
	if err := z.send(order, fds); err != nil && !errors.Is(err, syscall.EPIPE) && !errors.Is(err, syscall.ECONNRESET) {
		return nil, errors.Join(err, f.abandon())
	}
	return f, nil // a broken pipe shows as the end of the messages
}

// open makes the pipes and starts their readers and the writer of the input.
func (f *flight) open(p *pipes, input []byte) (err error) {
	if f.stdout, p.stdout, err = newOutput(TailBytes); err != nil {
		return err
	}
	if f.stderr, p.stderr, err = newOutput(TailBytes); err != nil {
		return err
	}
	if f.answer, p.result, err = os.Pipe(); err != nil {
		return fmt.Errorf("making a pipe: %w", err)
	}
	stdin, feed, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("making a pipe: %w", err)
	}
	p.stdin = stdin
	go func() {
		defer feed.Close()
		// A shard that does not read its input is free to; the pipe breaks
		// when its processes are gone.
		_, _ = io.Copy(feed, bytes.NewReader(input))
	}()
	go func() {
		f.frames <- readFrame(f.answer, f.limits.OutputBytes, func() { close(f.full) })
	}()
	return nil
}

// abandon closes what open has opened.
func (f *flight) abandon() error {
	now := time.Now()
	for _, o := range []*output{f.stdout, f.stderr} {
		if o != nil {
			o.finish(now)
		}
	}
	if f.answer != nil {
		_ = f.answer.Close()
	}
	return f.root.Close()
}

// wait waits for the shard to end and ends it when it must, or when an order
// comes that says why.
func (f *flight) wait(ctx context.Context, orders <-chan string) outcome {
	wall := time.NewTimer(f.wall)
	defer wall.Stop()
	watch := time.NewTicker(watchEvery)
	defer watch.Stop()
	var o outcome
	o.limits = f.limits
	var grace <-chan time.Time
	full, done := f.full, ctx.Done()
	end := func(why stop) {
		if o.stop == stopNone {
			o.stop, grace = why, time.After(killGrace)
			// When this fails, the messages end as well, or grace does.
			_ = f.z.send(message{Op: "kill", Seq: f.seq}, nil)
		}
	}
	for {
		select {
		case m, ok := <-f.z.messages:
			if f.landed(&o, m, ok) {
				return o
			}
		case <-wall.C:
			end(stopWall)
		case <-full:
			full = nil
			end(stopOutput)
		case o.reason = <-orders:
			end(stopOrder)
		case <-done:
			done, o.err = nil, context.Cause(ctx)
			end(stopContext)
		case <-watch.C:
			if why := f.inspect(); why != stopNone {
				end(why)
			}
		case <-grace: // the zygote was stopped, or cannot kill fast enough
			f.z.kill()
			o.lost, o.ended, o.exitCode = true, time.Now(), -1
			return o
		}
	}
}

// inspect asks the watchdog. Without /proc there is none.
func (f *flight) inspect() stop {
	table, err := processes()
	if err != nil {
		return stopNone
	}
	return below(table, f.z.cmd.Process.Pid, f.z.template).over(f.limits)
}

// landed takes a message and reports whether it ends the flight.
func (f *flight) landed(o *outcome, m message, ok bool) bool {
	if ok && m.Op == "done" && m.Seq != f.seq {
		return false
	}
	o.ended = time.Now()
	o.lost = !ok || m.Op != "done"
	o.exitCode, o.signal = m.code(), syscall.Signal(m.Signal)
	o.cpu, o.peakRSS, o.last = m.CPUMicros, m.PeakRSS, m.Last
	return true
}

// result collects what the shard left and puts the Result together.
func (f *flight) result(o outcome) (Result, error) {
	deadline := time.Now().Add(drainGrace)
	// It was opened by us and not closed yet.
	_ = f.answer.SetReadDeadline(deadline)
	o.frame = <-f.frames
	_ = f.answer.Close()
	stdout, stderr := f.stdout.finish(deadline), f.stderr.finish(deadline)
	v := decide(o.ending)
	files, filesErr := artifacts(f.root, f.limits)
	if err := f.root.Close(); err != nil {
		return Result{}, fmt.Errorf("closing the output directory: %w", err)
	}
	if o.err != nil {
		return Result{}, o.err
	}
	if filesErr != nil && v.status == StatusOK {
		v = badArtifacts(filesErr)
	}
	r := Result{
		Status: v.status, Exception: v.exception, Files: files,
		OutputBytes:  outputBytes(o.frame),
		StdoutDigest: stdout.digest(), StdoutBytes: stdout.n, StdoutTail: stdout.text(), StdoutTruncated: !stdout.whole(),
		StderrBytes: stderr.n, StderrTail: stderr.text(),
		ExitCode: o.exitCode, Signal: signalName(o.signal),
		StartedAt: stamp(f.started), EndedAt: stamp(o.ended),
		CPUMicros: o.cpu, WallMicros: o.ended.Sub(f.started).Microseconds(), PeakRSSBytes: o.peakRSS,
	}
	if v.status == StatusOK {
		r.Output, r.OutputDigest = string(v.output), canonical.Digest(v.output)
	}
	return r, nil
}

func badArtifacts(err error) verdict {
	if errors.Is(err, errTooMuch) {
		return failed(StatusArtifactLimit, ExceptionLimit, "%v", err)
	}
	return failed(StatusError, ExceptionArtifact, "%v", err)
}

// outputBytes is the size of the output, also of one that is over its limit.
func outputBytes(f frame) int64 {
	if f.kind != frameOutput || f.problem != "" {
		return 0
	}
	return int64(min(f.size, 1<<62))
}
