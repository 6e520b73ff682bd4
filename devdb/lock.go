package devdb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// ErrInUse says that another process runs a server on the directory; the error
// that wraps it names the process.
var ErrInUse = errors.New("the directory is in use")

const (
	// leftoverQuitWait is how long orphaned server processes get to obey SIGQUIT
	// before SIGKILL. Postgres gives its own children five seconds.
	leftoverQuitWait = 6 * time.Second
	// leftoverKillWait is how long the kernel gets to bury killed processes,
	// which a slow disk can hold up.
	leftoverKillWait = 20 * time.Second
	// pollEvery is the pace at which locks and readiness are asked for: short
	// against a start (about a second), long against the cost of asking.
	pollEvery = 20 * time.Millisecond
)

// openLock opens a lock file. It never follows a link, since the directory may
// not be ours alone.
func openLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening a lock file: %w", err)
	}
	return f, nil
}

// tryLock takes the lock unless somebody holds it.
func tryLock(f *os.File) (bool, error) {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("locking %s: %w", f.Name(), err)
	}
	return true, nil
}

// lockInstance makes this process the only one that looks after the directory.
func lockInstance(l layout) (*os.File, error) {
	f, err := openLock(l.instanceLock())
	if err != nil {
		return nil, err
	}
	ok, err := tryLock(f)
	if err == nil && !ok {
		err = inUse(l.dir, holder(f))
	}
	if err == nil {
		err = recordHolder(f)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func inUse(dir, who string) error {
	return fmt.Errorf("%w: %s runs a database in %s; stop it first, or choose another directory", ErrInUse, who, dir)
}

// holder names the process that the lock file speaks of.
func holder(f *os.File) string {
	b, err := io.ReadAll(io.NewSectionReader(f, 0, 32))
	pid, convErr := strconv.Atoi(string(bytes.TrimSpace(b)))
	if err != nil || convErr != nil {
		return "another process" // it has only just taken the lock
	}
	return "process " + strconv.Itoa(pid)
}

func recordHolder(f *os.File) error {
	if err := f.Truncate(0); err != nil {
		return fmt.Errorf("writing a lock file: %w", err)
	}
	if _, err := f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0); err != nil {
		return fmt.Errorf("writing a lock file: %w", err)
	}
	return nil
}

// clearLeftovers returns the server lock, which is held as long as any process
// of a server on this directory lives: the server inherits it. When a killed
// parent or a killed postmaster has left some, they are ended; the caller holds
// the instance lock, so nobody can be using them.
func (s *Server) clearLeftovers(ctx context.Context) (*os.File, error) {
	lock, err := openLock(s.layout.serverLock())
	if err != nil {
		return nil, err
	}
	for _, step := range []struct {
		signal unix.Signal
		wait   time.Duration
	}{{0, 0}, {unix.SIGQUIT, leftoverQuitWait}, {unix.SIGKILL, leftoverKillWait}} {
		if step.signal != 0 {
			s.signalLeftovers(step.signal)
		}
		free, err := awaitLock(ctx, lock, step.wait)
		if free {
			return lock, nil
		}
		if err != nil {
			lock.Close()
			return nil, fmt.Errorf("waiting for an earlier server to end: %w", err)
		}
	}
	lock.Close()
	return nil, fmt.Errorf("waiting for an earlier server to end: processes %v hold %s even after SIGKILL: %w",
		s.leftovers(), s.layout.serverLock(), ErrInUse)
}

// awaitLock asks for the lock until it is free or the time is up.
func awaitLock(ctx context.Context, lock *os.File, wait time.Duration) (bool, error) {
	deadline := time.Now().Add(wait)
	for {
		ok, err := tryLock(lock)
		if ok || err != nil || !time.Now().Before(deadline) {
			return ok, err
		}
		select {
		case <-ctx.Done():
			return false, context.Cause(ctx)
		case <-time.After(pollEvery):
		}
	}
}

func (s *Server) signalLeftovers(sig unix.Signal) {
	for _, pid := range s.leftovers() {
		s.log.Warn("ending a server process that an earlier run left behind", "pid", pid, "signal", sig.String())
		_ = unix.Kill(pid, sig) // gone already is as good
	}
}

// leftovers lists the live Postgres processes that work in this directory.
func (s *Server) leftovers() []int {
	entries, _ := os.ReadDir("/proc")
	var pids []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if worksIn(pid, s.layout.data()) || worksIn(pid, s.layout.unfinished()) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// worksIn tells whether the process is a Postgres whose working directory is
// the cluster, as is that of every process of a server.
func worksIn(pid int, cluster string) bool {
	proc := filepath.Join("/proc", strconv.Itoa(pid))
	comm, err := os.ReadFile(filepath.Join(proc, "comm"))
	if err != nil || strings.TrimSpace(string(comm)) != "postgres" {
		return false
	}
	cwd, err := os.Stat(filepath.Join(proc, "cwd"))
	if err != nil {
		return false
	}
	want, err := os.Stat(cluster)
	return err == nil && os.SameFile(cwd, want)
}
