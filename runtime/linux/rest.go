//go:build linux

package linux

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// restPasses is how often the processes of a sandbox are listed until none is left that runs: what forks faster is no sandbox to keep.
const restPasses = 100

// Rest stops everything in the sandbox until Wake, and says whether it could: nothing of a function is to run while nobody watches it.
// Only a cgroup knows all of a sandbox's processes, and the first process of a container, which means all others by -1.
func (s *Sandbox) Rest() bool {
	if s.session == nil || s.session.PID() == 0 || s.inputs.Empty() != nil {
		return false
	}
	switch {
	case s.first():
		s.resting = true
		return s.signalOthers(syscall.SIGSTOP) == nil
	case s.group != nil:
		s.resting = true
		return s.group.stop() == nil
	}
	return false
}

// first tells whether this is the first process of a container: anywhere else -1 would mean all processes of the machine.
func (s *Sandbox) first() bool { return s.runner.contained() && os.Getpid() == 1 }

// signalOthers sends a signal to all processes of the container but this one, none of which can be about to start another: the kernel does so
// with the list of processes locked, and a fork begins again that a signal has come to.
func (s *Sandbox) signalOthers(signal syscall.Signal) error {
	if err := syscall.Kill(-1, signal); err != nil {
		return fmt.Errorf("signalling all processes of a container: %w", err)
	}
	return nil
}

// end kills all that rests.
func (s *Sandbox) end() {
	if s.first() {
		_ = s.signalOthers(syscall.SIGKILL) // what is not there any more needs none
		return
	}
	killGroup(s.group.dir())
}

// Wake lets the sandbox go on, with the shards of another job of its project.
func (s *Sandbox) Wake(job string) error {
	s.resting = false
	if err := s.wake(); err != nil {
		return fmt.Errorf("waking a sandbox: %w", err)
	}
	return s.session.SetJob(job)
}

func (s *Sandbox) wake() error {
	if s.first() {
		return s.signalOthers(syscall.SIGCONT)
	}
	_, err := s.group.signal(syscall.SIGCONT, nil)
	return err
}

// stop stops all processes of the group.
func (g *group) stop() error {
	stopped := map[int]bool{}
	for range restPasses {
		n, err := g.signal(syscall.SIGSTOP, stopped)
		if err != nil || n == 0 {
			return err
		}
	}
	return errors.New("stopping a sandbox: it starts processes faster than they are stopped")
}

// signal sends a signal to the processes of the group, but for those that have had it, and says to how many.
func (g *group) signal(s syscall.Signal, had map[int]bool) (n int, err error) {
	text, err := os.ReadFile(filepath.Join(g.dir(), "cgroup.procs"))
	if err != nil {
		return 0, fmt.Errorf("listing the processes of a cgroup: %w", err)
	}
	for _, field := range strings.Fields(string(text)) {
		pid, err := strconv.Atoi(field)
		if err != nil || pid <= 1 || had[pid] {
			continue
		}
		if err := syscall.Kill(pid, s); err != nil && !errors.Is(err, syscall.ESRCH) {
			return n, fmt.Errorf("signalling a process of a sandbox: %w", err)
		}
		if n++; had != nil {
			had[pid] = true
		}
	}
	return n, nil
}
