package harness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// plainFlight is a shard that runs in an interpreter of its own.
type plainFlight struct {
	cfg   *Config
	shard Shard
	root  *os.Root // of $OSTRAKA_OUTPUT, opened before user code ran
	mark  string

	cmd            *exec.Cmd
	group          *group
	stdout, stderr *capture
	frames         chan frame
	answer         *os.File
	full, verbose  chan struct{}
	large, talk    sync.Once
	exited         chan struct{} // closed when the interpreter is gone and waited for
	started        time.Time
}

// capture reads a stream all the time and keeps its end.
type capture struct {
	file *os.File
	done chan struct{}

	mu    sync.Mutex
	tail  *tail
	limit int64
	over  func()
}

func newCapture(limit int64, over func()) (c *capture, end *os.File, err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, fmt.Errorf("making a pipe: %w", err)
	}
	c = &capture{file: r, done: make(chan struct{}), tail: newTail(TailBytes), limit: limit, over: over}
	go c.read()
	return c, w, nil
}

func (c *capture) read() {
	defer close(c.done)
	buffer := make([]byte, 64<<10)
	for {
		n, err := c.file.Read(buffer)
		c.mu.Lock()
		before := c.tail.n
		_, _ = c.tail.Write(buffer[:n]) // it never fails
		passed := before <= c.limit && c.tail.n > c.limit
		c.mu.Unlock()
		if passed {
			c.over()
		}
		if err != nil {
			return
		}
	}
}

func (c *capture) written() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tail.n
}

// finish waits for the end of the stream, not longer than it may take when all
// processes of the shard are gone.
func (c *capture) finish() *tail {
	select {
	case <-c.done:
	case <-time.After(drainGrace): // a process that got away holds it: what was read so far counts
	}
	_ = c.file.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	copied := *c.tail
	return &copied
}

func (f *plainFlight) chatty()   { f.talk.Do(func() { close(f.verbose) }) }
func (f *plainFlight) overflow() { f.large.Do(func() { close(f.full) }) }

// start starts the interpreter, held together with all that it will start.
func (f *plainFlight) start() (err error) {
	f.frames, f.exited = make(chan frame, 1), make(chan struct{})
	f.full, f.verbose = make(chan struct{}), make(chan struct{})
	var outW, errW, answerW *os.File
	var ends []*os.File // of the shard's; this process keeps none of them
	defer func() {
		for _, end := range ends {
			_ = end.Close()
		}
		if err != nil {
			f.abandon()
		}
	}()
	if f.stdout, outW, err = newCapture(f.cfg.stdoutLimit(), f.chatty); err != nil {
		return err
	}
	ends = append(ends, outW)
	if f.stderr, errW, err = newCapture(f.cfg.Manifest.Limits.StderrBytes, f.chatty); err != nil {
		return err
	}
	ends = append(ends, errW)
	if f.answer, answerW, err = os.Pipe(); err != nil {
		return fmt.Errorf("making a pipe: %w", err)
	}
	ends = append(ends, answerW)
	if err := f.launch(outW, errW, answerW); err != nil {
		return err
	}
	go func() { f.frames <- readFrame(f.answer, f.cfg.Manifest.Limits.OutputBytes, f.overflow) }()
	return nil
}

// launch starts the command. Its input is written while it runs.
func (f *plainFlight) launch(stdout, stderr, answer *os.File) error {
	arguments, err := plainArguments()
	if err != nil {
		return err
	}
	if f.group, err = newGroup(f.cfg, &f.shard, f.mark); err != nil {
		return err
	}
	f.cmd = exec.Command(f.cfg.Interpreter, arguments...)
	f.cmd.Dir, f.cmd.Env = f.shard.Home, plainEnvironment(f.cfg, f.shard.Home, f.mark)
	f.cmd.Env = append(f.cmd.Env, "OSTRAKA_OUTPUT="+f.shard.Output, fmt.Sprintf("OSTRAKA_SHARD=%d", f.shard.Index),
		fmt.Sprintf("OSTRAKA_SEED=%d", Seed(f.cfg.Digest, f.cfg.Settings.Job, f.shard.Index)))
	if f.shard.Inputs != "" {
		f.cmd.Env = append(f.cmd.Env, "OSTRAKA_INPUT="+f.shard.Inputs)
	}
	f.cmd.Stdout, f.cmd.Stderr = stdout, stderr
	descriptor, handle, err := f.group.prepare(f.cmd, answer)
	if err != nil {
		return err
	}
	request, err := plainRequest(f.cfg, &f.shard, descriptor, handle)
	if err != nil {
		return err
	}
	f.cmd.Stdin = io.MultiReader(bytes.NewReader(request), bytes.NewReader(f.shard.Input))
	f.cmd.WaitDelay = drainGrace
	f.started = time.Now()
	if err := f.cmd.Start(); err != nil {
		return fmt.Errorf("starting the interpreter %s: %w", f.cfg.Interpreter, err)
	}
	if err := f.group.hold(f.cmd.Process); err != nil {
		_ = f.cmd.Process.Kill()
		_ = f.cmd.Wait() // the first trouble says more
		return err
	}
	go func() {
		defer close(f.exited)
		_ = f.cmd.Wait() // how it ended is in its state
	}()
	return nil
}

// abandon closes what start has opened.
func (f *plainFlight) abandon() {
	for _, c := range []*capture{f.stdout, f.stderr} {
		if c != nil {
			_ = c.file.Close()
		}
	}
	if f.answer != nil {
		_ = f.answer.Close()
	}
	if f.group != nil {
		f.group.close()
	}
}

// wait waits for the interpreter to end, and ends it when it must.
func (f *plainFlight) wait(ctx context.Context, orders <-chan string) (o outcome) {
	o.limits, o.stdoutLimit = f.cfg.Manifest.Limits, f.cfg.stdoutLimit()
	wall := time.NewTimer(f.cfg.wall())
	defer wall.Stop()
	watch := time.NewTicker(plainWatchEvery)
	defer watch.Stop()
	full, verbose, done := f.full, f.verbose, ctx.Done()
	end := func(why stop) {
		if o.stop == stopNone {
			o.stop = why
			f.group.kill()
		}
	}
	for {
		select {
		case <-f.exited:
			f.left(&o)
			return o
		case <-wall.C:
			end(stopWall)
		case <-full:
			full = nil
			end(stopOutput)
		case <-verbose:
			verbose = nil
			end(stopLog)
		case o.reason = <-orders:
			end(stopOrder)
		case <-done:
			done, o.err = nil, context.Cause(ctx)
			end(stopContext)
		case <-watch.C:
			if why := f.inspect(); why != stopNone {
				end(why)
			}
		}
	}
}

// left takes what the kernel says of the interpreter, and ends what it has left behind.
func (f *plainFlight) left(o *outcome) {
	o.ended = time.Now()
	used := f.group.finish(f.cmd.ProcessState)
	o.cpu, o.peakRSS = used.cpu, used.peak
	o.exitCode = f.cmd.ProcessState.ExitCode()
	if status, ok := f.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		o.exitCode, o.signal = -1, status.Signal()
	}
	if o.stop == stopNone && used.peak > o.limits.MemoryBytes && !f.group.countsMemory() {
		o.stop = stopMemory // its limit was not enforced meanwhile: it shows only now
	}
}

// inspect asks the watchdogs.
func (f *plainFlight) inspect() stop {
	l := f.cfg.Manifest.Limits
	if use, err := f.group.usage(); err == nil { // what cannot be seen now shows at the end
		switch {
		case use.count > l.Pids:
			return stopPids
		case use.rss > l.MemoryBytes:
			return stopMemory
		case use.cpu > l.CPUSeconds*1_000_000:
			return stopCPU
		}
	}
	if f.shard.Workspace == "" {
		return stopNone
	}
	use, _ := measure(f.shard.Workspace, l, false)
	return use.over(l)
}

// groupUsage is what the processes of a shard hold together.
type groupUsage struct {
	count int64
	rss   int64 // bytes; 0 where the kernel holds the group to its limit
	cpu   int64 // microseconds; 0 where it is not known
}

// groupUsed is what they have used when all have ended.
type groupUsed struct {
	cpu  int64 // microseconds
	peak int64 // bytes
}

// collect takes what the shard left and makes the Result of it.
func (f *plainFlight) collect(o outcome) (Result, error) {
	select {
	case o.frame = <-f.frames:
	case <-time.After(drainGrace): // a process that got away holds the pipe
		o.frame = frame{problem: "the result pipe stays open"}
	}
	_ = f.answer.Close()
	stdout, stderr := f.stdout.finish(), f.stderr.finish()
	if o.err != nil {
		return Result{}, o.err
	}
	o.started, o.schema = f.started, f.cfg.schema
	return o.assemble(&f.shard, f.root, stdout, stderr)
}

// errHold says that a shard's processes cannot be held together.
var errHold = errors.New("holding the processes of a shard together")
