//go:build linux

package harness

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ostraka/ostraka/runtime/bundle"
)

// flight is a shard that is running.
type flight struct {
	z      *zygote
	cfg    *Config
	limits bundle.Limits
	shard  Shard
	root   *os.Root // of $OSTRAKA_OUTPUT, opened before user code ran
	before Account
	taken  space // of the file systems that share the limits, before user code ran

	seq            uint64 // 0 until a process has reported for it
	stdout, stderr *output
	answer         *answer
	ends           []int // of the pipes, for the shard: stdout, stderr, result and perhaps stdin
	full, verbose  chan struct{}
	large, talk    sync.Once

	started time.Time
}

// launch opens what the shard writes to and starts to read it. The first process
// that reports gets the other ends.
func launch(z *zygote, shard Shard, cfg *Config) (*flight, error) {
	root, err := os.OpenRoot(shard.outputDir())
	if err != nil {
		return nil, fmt.Errorf("opening the output directory: %w", err)
	}
	f := &flight{
		z: z, cfg: cfg, limits: cfg.Manifest.Limits, shard: shard, root: root,
		full: make(chan struct{}), verbose: make(chan struct{}),
		taken: taken(&shard), started: time.Now(),
	}
	if err := f.open(); err != nil {
		f.abandon()
		return nil, err
	}
	return f, nil
}

// open makes the pipes and starts their readers and the writer of the input.
func (f *flight) open() (err error) {
	if f.before, err = account(f.cfg); err != nil {
		return err
	}
	for _, o := range []struct {
		to    **output
		limit int64
	}{{&f.stdout, f.cfg.stdoutLimit()}, {&f.stderr, f.limits.StderrBytes}} {
		out, end, err := newOutput(o.limit, f.chatty)
		if err != nil {
			return err
		}
		*o.to, f.ends = out, append(f.ends, end)
	}
	answer, end, err := newAnswer(f.limits.OutputBytes, f.overflow)
	if err != nil {
		return err
	}
	f.answer, f.ends = answer, append(f.ends, end)
	if f.inline() {
		return nil
	}
	stdin, feed, err := newFeed()
	if err != nil {
		return err
	}
	f.ends = append(f.ends, stdin)
	go func() {
		defer feed.Close()
		// A shard that does not read its input is free to; the pipe breaks
		// when its processes are gone.
		_, _ = feed.Write(bytes.Trim(f.shard.Input, jsonSpace))
	}()
	return nil
}

// inline says that the input travels with the order.
func (f *flight) inline() bool {
	return f.cfg.Manifest.Script == "" && len(f.shard.Input) <= maxInlineInput
}

func (f *flight) chatty()   { f.talk.Do(func() { close(f.verbose) }) }
func (f *flight) overflow() { f.large.Do(func() { close(f.full) }) }

// abandon closes what open has opened.
func (f *flight) abandon() {
	f.closeEnds()
	now := time.Now()
	for _, o := range []*output{f.stdout, f.stderr} {
		if o != nil {
			o.finish(now)
		}
	}
	if f.answer != nil {
		f.answer.finish(now)
	}
	_ = f.root.Close() // it was only to be read
}

// closeEnds leaves the shard's ends to the shard.
func (f *flight) closeEnds() {
	for _, fd := range f.ends {
		_ = unix.Close(fd)
	}
	f.ends = nil
}

// dispatch gives the shard to the process that reports for it, on a channel that
// no other process holds. It never blocks, whatever is at the other end.
func (f *flight) dispatch(m message) error {
	defer m.drop()
	f.seq = m.Seq
	packet := f.order()
	f.started = time.Now()
	err := unix.Sendmsg(m.channel, packet, unix.UnixRights(f.ends...), nil, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
	f.closeEnds()
	if err != nil {
		return fmt.Errorf("writing to a shard's process: %w", err)
	}
	return nil
}

// wait waits for the shard to end and ends it when it must, or when an order
// comes that says why.
func (f *flight) wait(ctx context.Context, orders <-chan string) outcome {
	wall := time.NewTimer(f.cfg.wall())
	defer wall.Stop()
	watch := time.NewTicker(watchEvery)
	defer watch.Stop()
	read := time.NewTimer(readAfter)
	defer read.Stop()
	var o outcome
	o.limits, o.stdoutLimit = f.limits, f.cfg.stdoutLimit()
	var grace <-chan time.Time
	full, verbose, done := f.full, f.verbose, ctx.Done()
	end := func(why stop) {
		if o.stop == stopNone {
			o.stop, grace = why, time.After(killGrace)
			// When this fails, the messages end as well, or grace does.
			_ = f.z.send(message{Op: "kill", Seq: f.seq})
		}
	}
	for {
		select {
		case m, ok := <-f.z.messages:
			switch {
			case ok && m.Op == "next" && o.stop != stopNone:
				f.seq = m.Seq
				m.drop() // it ends when it is not wanted
			case ok && m.Op == "next":
				if f.dispatch(m) != nil {
					end(stopChannel)
				}
			case f.landed(&o, m, ok):
				return o
			}
		case <-read.C:
			f.stdout.start()
			f.stderr.start()
			f.answer.start(nil)
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
		case <-grace: // the zygote was stopped, or cannot kill fast enough
			f.z.kill()
			o.lost, o.ended, o.exitCode = true, time.Now(), -1
			return o
		}
	}
}

// inspect asks the watchdogs.
func (f *flight) inspect() stop {
	// A child that the kernel killed for want of memory may be all that there
	// is to see: its parent may wait for it forever.
	if now, err := account(f.cfg); err == nil && now.OOMKills > f.before.OOMKills {
		return stopMemory
	}
	if why := f.z.inspect(f.limits); why != stopNone {
		return why
	}
	if len(f.shard.Mounts) > 0 {
		return f.spread().over(f.limits)
	}
	if f.shard.Workspace == "" {
		return stopNone
	}
	// What it cannot see now, it sees when the shard has ended.
	use, _ := measure(f.shard.Workspace, f.limits, false)
	return use.over(f.limits)
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
