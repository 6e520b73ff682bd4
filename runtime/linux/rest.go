//go:build linux

package linux

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	// restPatience is for how long a sandbox is told to stop: what forks faster, or hangs in the kernel, is no sandbox to keep.
	restPatience = 2 * time.Second
	// restLook is how often it is looked whether it has.
	restLook = time.Millisecond
)

// errNotListed keeps signals from what is none of a sandbox's: without a cgroup, and outside of a container, /proc lists the whole machine.
var errNotListed = errors.New("nobody knows the processes of this sandbox")

// Rest stops everything in the sandbox until Wake, and says whether it could: nothing of a function may run unwatched.
// Only a cgroup knows all of a sandbox's processes, and the first process of a container, which can list all others.
func (s *Sandbox) Rest() bool {
	if s.session == nil || s.session.PID() == 0 || s.inputs.Empty() != nil || !s.first() && s.group == nil {
		return false
	}
	s.resting = true
	return s.stop() == nil
}

// Wake lets the sandbox go on, with the shards of another job of its project.
func (s *Sandbox) Wake(job string) error {
	s.resting = false
	if err := s.signal(syscall.SIGCONT); err != nil {
		return fmt.Errorf("waking a sandbox: %w", err)
	}
	return s.session.SetJob(job)
}

// first tells whether this is the first process of a container.
func (s *Sandbox) first() bool { return s.runner.contained() && os.Getpid() == 1 }

// stop stops all processes, and returns when each of their threads has. It is not enough to have told them: a process that is about to
// start another one stops after it has, and the kernel may tell the new one to stop after it was told to continue.
func (s *Sandbox) stop() error {
	for end := time.Now().Add(restPatience); time.Now().Before(end); time.Sleep(restLook) {
		if err := s.signal(syscall.SIGSTOP); err != nil {
			return err
		}
		all, err := s.others()
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(all, running) {
			again, err := s.others()
			if err != nil || !slices.ContainsFunc(again, func(pid int) bool { return !slices.Contains(all, pid) }) {
				return err
			}
		}
	}
	return errors.New("stopping a sandbox: it goes on")
}

// signal sends a signal to all processes of the sandbox.
func (s *Sandbox) signal(signal syscall.Signal) error {
	all, err := s.others()
	if err != nil {
		return err
	}
	for _, pid := range all {
		if err := syscall.Kill(pid, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("signalling a process of a sandbox: %w", err)
		}
	}
	return nil
}

// end kills all that rests.
func (s *Sandbox) end() {
	if s.group != nil {
		killGroup(s.group.dir())
		return
	}
	_ = s.signal(syscall.SIGKILL) // what is not there any more needs none
}

// others are the numbers of all processes of the sandbox, but for this one where it is the first of a container.
func (s *Sandbox) others() ([]int, error) {
	if s.group != nil {
		text, err := os.ReadFile(filepath.Join(s.group.dir(), "cgroup.procs"))
		if err != nil {
			return nil, fmt.Errorf("listing the processes of a cgroup: %w", err)
		}
		return numbers(strings.Fields(string(text))), nil
	}
	if !s.first() {
		return nil, errNotListed
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("listing the processes of a container: %w", err)
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return numbers(names), nil
}

// numbers are those of the names that are numbers of processes, without the first.
func numbers(names []string) (pids []int) {
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil && pid > 1 {
			pids = append(pids, pid)
		}
	}
	return pids
}

// running says whether a thread of a process is neither stopped nor at its end.
func running(pid int) bool {
	tasks := filepath.Join("/proc", strconv.Itoa(pid), "task")
	threads, err := os.ReadDir(tasks)
	if err != nil {
		return false // it has ended
	}
	for _, thread := range threads {
		stat, err := os.ReadFile(filepath.Join(tasks, thread.Name(), "stat"))
		if err != nil {
			continue // as above
		}
		if i := strings.LastIndex(string(stat), ") "); i < 0 || !strings.ContainsAny(string(stat[i+2:i+3]), "TZX") {
			return true
		}
	}
	return false
}
