package devdb

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

const (
	// FastShutdownLimit is how long Stop waits for a fast shutdown (sessions are
	// ended, a checkpoint is written) before it asks for an immediate one, which
	// costs a crash recovery at the next start but no data.
	FastShutdownLimit = 30 * time.Second
	// immediateShutdownLimit is how long an immediate shutdown gets before
	// SIGKILL; Postgres itself kills its children after five seconds.
	immediateShutdownLimit = 10 * time.Second
	// logDrainLimit is how long a dead server's last words are waited for:
	// orphans of a killed server may hold its log open.
	logDrainLimit = time.Second
)

// process is one run of the server.
type process struct {
	pid  int
	cmd  *exec.Cmd
	done chan struct{} // closed when the process has ended and been reaped
	log  *boundedLog
}

// launch starts the server on the cluster. It inherits the server lock.
func (s *Server) launch(lock *os.File) (*process, error) {
	dir, err := openDir(s.layout.data())
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	log, logEnd, err := openLog(s.layout.log(), s.log)
	if err != nil {
		return nil, err
	}
	defer logEnd.Close()
	cmd := exec.Command(s.bins.postgres(), s.arguments()...)
	cmd.ExtraFiles = []*os.File{dir, lock}
	cmd.Dir = "/"
	cmd.Env = childEnv
	cmd.Stdout, cmd.Stderr = logEnd, logEnd
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Credential: s.acct.credential(),
		Setpgid:    true,            // a Ctrl-C at the terminal is for us; we stop the server in our own order
		Pdeathsig:  syscall.SIGQUIT, // our death, even by SIGKILL, is its immediate shutdown
	}
	p := &process{cmd: cmd, done: make(chan struct{}), log: log}
	if err := p.start(); err != nil {
		log.close()
		return nil, fmt.Errorf("running %s as %s: %w", s.bins.postgres(), s.acct.name, err)
	}
	return p, nil
}

// start runs the command and reaps it. The kernel sends the parent-death signal
// when the starting thread ends, not the process, so one thread is held for as
// long as the server lives.
func (p *process) start() error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		if err == nil {
			p.pid = p.cmd.Process.Pid
		}
		started <- err
		if err != nil {
			return
		}
		_ = p.cmd.Wait() // how it ended stands in cmd.ProcessState
		close(p.done)
	}()
	return <-started
}

// stop ends the process: fast, then immediately, then by SIGKILL.
func (p *process) stop(ctx context.Context, log *slog.Logger) error {
	defer p.log.drain(logDrainLimit)
	polite, cancel := context.WithTimeout(ctx, FastShutdownLimit)
	defer cancel()
	if p.end(polite, syscall.SIGINT) {
		return nil
	}
	log.Warn("the embedded Postgres did not stop in time; asking for an immediate shutdown", "pid", p.pid)
	firm, cancel := context.WithTimeout(context.Background(), immediateShutdownLimit)
	defer cancel()
	if p.end(firm, syscall.SIGQUIT) {
		return nil
	}
	last, cancel := context.WithTimeout(context.Background(), leftoverKillWait)
	defer cancel()
	if p.end(last, syscall.SIGKILL) {
		return nil
	}
	return fmt.Errorf("process %d survives SIGKILL: the kernel holds it, most likely in a disk operation", p.pid)
}

// end sends the signal and waits. It reports whether the process is gone.
func (p *process) end(ctx context.Context, sig os.Signal) bool {
	err := p.cmd.Process.Signal(sig)
	if err != nil && !errors.Is(err, os.ErrProcessDone) {
		return false
	}
	select {
	case <-p.done:
		return true
	case <-ctx.Done():
		return false
	}
}

// onOwnThread runs f on a thread that lives until f returns, as a child with a
// parent-death signal needs.
func onOwnThread[T any](f func() (T, error)) (T, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return f()
}
