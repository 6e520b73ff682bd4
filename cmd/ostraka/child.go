//go:build linux

package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"
)

const (
	// childStopLimit is how long a child gets between SIGTERM and SIGKILL: an agent promises to stop within 5 seconds.
	childStopLimit = 8 * time.Second
	// childRestartFirst and childRestartMost bound the wait before a child that has died is started again; it doubles.
	childRestartFirst = 500 * time.Millisecond
	childRestartMost  = 30 * time.Second
	// childHealthy is how long a child must have run for the wait to start over.
	childHealthy = time.Minute
)

// child is a program that we start, keep running and stop.
type child struct {
	name string
	// command makes a new command for each start; its context is not used to kill.
	command func() (*exec.Cmd, error)
	// final says which exit codes mean that starting again would change nothing.
	final func(code int) bool
	log   *slog.Logger
}

// keepAll runs children until they are stopped, which waits until they are gone. The end of the context is not the end of them.
func keepAll(ctx context.Context, children []*child) (stop func()) {
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var all sync.WaitGroup
	for _, c := range children {
		all.Go(func() { c.keep(running) })
	}
	return func() {
		cancel()
		all.Wait()
	}
}

// keep runs the child until the context ends, again whenever it dies. When it returns the child is gone.
func (c *child) keep(ctx context.Context) {
	wait := childRestartFirst
	for {
		began := time.Now()
		code, err := c.once(ctx)
		if ctx.Err() != nil {
			return
		}
		if c.final(code) {
			c.log.Error("a child has given up, and starting it again would change nothing", "child", c.name, "exit", code)
			return
		}
		if time.Since(began) > childHealthy {
			wait = childRestartFirst
		}
		c.log.Warn("a child has died and is started again", "child", c.name, "exit", code, "error", err, "in", wait)
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		wait = min(2*wait, childRestartMost)
	}
}

// once runs the child to its end: its own, or ours when the context ends.
func (c *child) once(ctx context.Context) (code int, err error) {
	cmd, err := c.command()
	if err != nil {
		return -1, err
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Setpgid:   true,            // a Ctrl-C at the terminal is for us; we stop our children in our own order
		Pdeathsig: syscall.SIGKILL, // our death, even by SIGKILL, is theirs
	}
	done := make(chan error, 1)
	started := make(chan error, 1)
	go func() {
		// The kernel sends the parent-death signal when the starting thread ends, so it is held for as long as the child lives.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			done <- cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		return -1, err
	}
	select {
	case err = <-done:
	case <-ctx.Done():
		err = stopChild(cmd, done)
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode(), err
	}
	return 0, err
}

func stopChild(cmd *exec.Cmd, done <-chan error) error {
	_ = cmd.Process.Signal(syscall.SIGTERM) // gone already is as good
	select {
	case err := <-done:
		return err
	case <-time.After(childStopLimit):
		_ = cmd.Process.Signal(os.Kill)
		return <-done
	}
}
