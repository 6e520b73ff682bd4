//go:build linux

package linux

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/ostraka/ostraka/runtime/harness"
)

// group is the cgroup of one sandbox: a folder for each hierarchy.
type group struct {
	h    *hierarchy
	name string
}

// newGroup makes the cgroup.
func (h *hierarchy) newGroup(name string) (*group, error) {
	g := &group{h: h, name: name}
	for _, dir := range h.folders() {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			return nil, errors.Join(fmt.Errorf("making a cgroup: %w", err), g.remove())
		}
	}
	return g, nil
}

func (g *group) file(controller, name string) string {
	return filepath.Join(g.h.folder(controller), g.name, name)
}

// dir is one folder of the group, for the monitor.
func (g *group) dir() string { return filepath.Join(g.h.folder(memoryController), g.name) }

// members opens the lists that a process joins the group by.
func (g *group) members() ([]*os.File, error) {
	var files []*os.File
	for _, dir := range g.h.folders() {
		f, err := os.OpenFile(filepath.Join(dir, g.name, "cgroup.procs"), os.O_WRONLY, 0)
		if err != nil {
			closeFiles(files)
			return nil, fmt.Errorf("opening a cgroup: %w", err)
		}
		files = append(files, f)
	}
	return files, nil
}

func closeFiles(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}

// limitPids bounds processes and threads together.
func (g *group) limitPids(n int64) error {
	return g.write(pidsController, "pids.max", n)
}

// limitMemory bounds memory, files of the workspace included. Nothing is
// swapped, where the kernel lets us say so.
func (g *group) limitMemory(n int64) error {
	if g.h.version(memoryController) == 2 {
		if err := g.write(memoryController, "memory.swap.max", 0); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return g.write(memoryController, "memory.max", n)
	}
	// Memory with swap is never less than memory: raised before, lowered after.
	both := func() error {
		err := g.write(memoryController, "memory.memsw.limit_in_bytes", n)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	if both() == nil {
		if err := g.write(memoryController, "memory.limit_in_bytes", n); err != nil {
			return err
		}
		return both()
	}
	if err := g.write(memoryController, "memory.limit_in_bytes", n); err != nil {
		return err
	}
	return both()
}

// cpuPeriod is the time over which processor time is shared out.
const cpuPeriod = 100 * time.Millisecond

// limitCPU bounds how many processors all processes together get.
func (g *group) limitCPU(processors int64) error {
	quota, period := processors*cpuPeriod.Microseconds(), cpuPeriod.Microseconds()
	if g.h.version(cpuController) == 2 {
		return writeFile(g.file(cpuController, "cpu.max"), fmt.Sprintf("%d %d", quota, period))
	}
	if err := g.write(cpuController, "cpu.cfs_period_us", period); err != nil {
		return err
	}
	return g.write(cpuController, "cpu.cfs_quota_us", quota)
}

func (g *group) write(controller, name string, n int64) error {
	return writeFile(g.file(controller, name), strconv.FormatInt(n, 10))
}

func writeFile(path, text string) error {
	if err := os.WriteFile(path, []byte(text), 0); err != nil {
		return fmt.Errorf("limiting a cgroup: %w", err)
	}
	return nil
}

// Account implements harness.Accounting.
func (g *group) Account() (harness.Account, error) {
	var a harness.Account
	var err error
	read := func(into *int64, controller, name string) {
		if err == nil {
			*into, err = readNumber(g.file(controller, name))
		}
	}
	if g.h.version(memoryController) == 2 {
		read(&a.Memory, memoryController, "memory.current")
		read(&a.MemoryPeak, memoryController, "memory.peak")
		if errors.Is(err, fs.ErrNotExist) { // before Linux 5.19
			err = nil
		}
		a.OOMKills, err = counter(g.file(memoryController, "memory.events"), "oom_kill", err)
	} else {
		read(&a.Memory, memoryController, "memory.usage_in_bytes")
		read(&a.MemoryPeak, memoryController, "memory.max_usage_in_bytes")
		a.OOMKills, err = counter(g.file(memoryController, "memory.oom_control"), "oom_kill", err)
	}
	read(&a.Processes, pidsController, "pids.current")
	a.PidsRefused, err = counter(g.file(pidsController, "pids.events"), "max", err)
	switch {
	case g.h.version(timeController) == 1:
		read(&a.CPUMicros, timeController, "cpuacct.usage")
		a.CPUMicros /= int64(time.Microsecond)
	case g.h.version(cpuController) == 2:
		a.CPUMicros, err = counter(g.file(cpuController, "cpu.stat"), "usage_usec", err)
	}
	if err != nil {
		return harness.Account{}, fmt.Errorf("reading a cgroup: %w", err)
	}
	return a, nil
}

// counter reads one line of a file of names and numbers, unless something has
// failed before.
func counter(path, name string, before error) (int64, error) {
	if before != nil {
		return 0, before
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) == 2 && fields[0] == name {
			return strconv.ParseInt(fields[1], 10, 64)
		}
	}
	return 0, fmt.Errorf("%s says nothing of %q", path, name)
}

// remove removes the group with all that is in it.
func (g *group) remove() error {
	var failed error
	for _, dir := range g.h.folders() {
		failed = errors.Join(failed, removeGroup(filepath.Join(dir, g.name)))
	}
	return failed
}

// emptied is how long the processes of a group may take to go, once killed.
const emptied = 5 * time.Second

// removeGroup kills what is in a group and removes it. The kernel keeps a group
// until its last process is gone for good.
func removeGroup(dir string) error {
	deadline := time.Now().Add(emptied)
	for {
		err := syscall.Rmdir(dir)
		switch {
		case err == nil, errors.Is(err, syscall.ENOENT):
			return nil
		case !errors.Is(err, syscall.EBUSY) || time.Now().After(deadline):
			return fmt.Errorf("removing the cgroup %s: %w", dir, err)
		}
		killGroup(dir)
		time.Sleep(time.Millisecond)
	}
}

func killGroup(dir string) {
	if os.WriteFile(filepath.Join(dir, "cgroup.kill"), []byte("1"), 0) == nil {
		return
	}
	text, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
	if err != nil {
		return
	}
	for _, pid := range strings.Fields(string(text)) {
		if n, err := strconv.Atoi(pid); err == nil && n > 1 {
			_ = syscall.Kill(n, syscall.SIGKILL) // it may have gone
		}
	}
}
