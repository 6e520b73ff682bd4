package rig

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// saidBytes is how much of the end of what a process said is shown when something is wrong.
const saidBytes = 8 << 10

// Process is one process of the program.
type Process struct {
	cmd  *exec.Cmd
	log  string // path of its output
	done chan struct{}
}

// Start starts the program. It ends with this one, or with the rig.
func (r *Rig) Start(env []string, args ...string) (*Process, error) {
	log, err := os.CreateTemp(r.Dir, args[0]+"-*.log")
	if err != nil {
		return nil, err
	}
	defer log.Close()
	p := &Process{cmd: exec.Command(r.Binary, args...), log: log.Name(), done: make(chan struct{})}
	p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = env, log, log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting ostraka %s: %w", args[0], err)
	}
	go func() {
		defer close(p.done)
		_ = p.cmd.Wait()
	}()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.processes = append(r.processes, p)
	return p, nil
}

// PID is the process' number.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Kill kills the process at once and reaps it. It may be called again.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
}

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Descendants are the processes below this one, at this moment.
func (p *Process) Descendants() ([]int, error) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	children := map[int][]int{}
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		var parent int
		var state rune
		if _, err := fmt.Sscanf(string(text[bytes.LastIndexByte(text, ')')+1:]), " %c %d", &state, &parent); err != nil {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil {
			children[parent] = append(children[parent], pid)
		}
	}
	var below []int
	for next := children[p.PID()]; len(next) > 0; {
		pid := next[0]
		below = append(below, pid)
		next = append(next[1:], children[pid]...)
	}
	slices.Sort(below)
	return below, nil
}

// Signal sends the process a signal.
func (p *Process) Signal(s syscall.Signal) error { return p.cmd.Process.Signal(s) }

// Said is the end of what the process said.
func (p *Process) Said() string {
	text, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-saidBytes):])
}

// ForgetPeak has the kernel begin anew with the process' largest memory.
func (p *Process) ForgetPeak() error {
	return os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", p.PID()), []byte("5"), 0)
}

// PeakMiB is the most memory that the process has had since it began, or since ForgetPeak.
func (p *Process) PeakMiB() (float64, error) { return p.status("VmHWM:") }

// MemoryMiB is the memory that the process has.
func (p *Process) MemoryMiB() (float64, error) { return p.status("VmRSS:") }

func (p *Process) status(name string) (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.PID()))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if kib, found := strings.CutPrefix(line, name); found {
			n, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(kib), "kB")), 64)
			return n / 1024, err
		}
	}
	return 0, fmt.Errorf("the kernel does not say %s of process %d", name, p.PID())
}

// ticks is how many of the kernel's units of processor time make a second; Linux says 100 to programs everywhere.
const ticks = 100

// CPUSeconds is the processor time that the process itself has used.
func (p *Process) CPUSeconds() (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.PID()))
	if err != nil {
		return 0, err
	}
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:]) // from the third field on
	if len(fields) < 13 {
		return 0, fmt.Errorf("the kernel's words about process %d are not understood", p.PID())
	}
	user, err := strconv.ParseFloat(string(fields[11]), 64)
	if err != nil {
		return 0, err
	}
	system, err := strconv.ParseFloat(string(fields[12]), 64)
	return (user + system) / ticks, err
}
