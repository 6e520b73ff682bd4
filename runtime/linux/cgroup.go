//go:build linux

package linux

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/ostraka/ostraka/runtime/harness"
)

// Controllers that a sandbox uses. Without the first two there is no level
// `linux`.
const (
	memoryController = "memory"
	pidsController   = "pids"
	cpuController    = "cpu"
	timeController   = "cpuacct" // version 1; version 2 counts in cpu.stat
)

// hierarchy is where the cgroups of this process are: for each controller the
// folder below which sandboxes get theirs.
type hierarchy struct {
	v1 map[string]string // controller to folder
	v2 string            // folder; empty: there is none
	in []string          // controllers that version 2 gives to groups below v2
}

// findHierarchy reads where this process is. It changes nothing.
func findHierarchy() (*hierarchy, error) {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("looking for cgroups: %w", err)
	}
	self, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil, fmt.Errorf("looking for cgroups: %w", err)
	}
	h := parseHierarchy(string(mounts), string(self))
	if h.v2 != "" {
		h.v2 = strings.TrimSuffix(h.v2, "/"+leafName) // where an earlier look moved this process
		text, err := os.ReadFile(filepath.Join(h.v2, "cgroup.controllers"))
		if err != nil {
			return nil, fmt.Errorf("looking for cgroups: %w", err)
		}
		h.in = strings.Fields(string(text))
	}
	return h, nil
}

// parseHierarchy joins what is mounted where with where the process is.
func parseHierarchy(mountinfo, self string) *hierarchy {
	where := map[string]string{} // controller, or "" for version 2, to the path of the process
	for line := range strings.Lines(self) {
		parts := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(parts) == 3 {
			for _, c := range strings.Split(parts[1], ",") {
				where[c] = parts[2]
			}
		}
	}
	h := &hierarchy{v1: map[string]string{}}
	for line := range strings.Lines(mountinfo) {
		before, after, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " - ")
		f, g := strings.Fields(before), strings.Fields(after)
		if !ok || len(f) < 5 || len(g) < 3 {
			continue
		}
		root, point := f[3], f[4]
		switch g[0] {
		case "cgroup2":
			if path, ok := where[""]; ok && h.v2 == "" {
				h.v2 = below(point, root, path)
			}
		case "cgroup":
			for _, c := range strings.Split(g[2], ",") {
				if path, ok := where[c]; ok && c != "" {
					h.v1[c] = below(point, root, path)
				}
			}
		}
	}
	return h
}

// below is where a cgroup's path shows under a mount of a part of the tree.
func below(point, root, path string) string {
	rest, err := filepath.Rel(root, path)
	if err != nil || strings.HasPrefix(rest, "..") {
		rest = path
	}
	return filepath.Join(point, rest)
}

// folder is where a controller's groups are made; empty: nowhere.
func (h *hierarchy) folder(controller string) string {
	if dir := h.v1[controller]; dir != "" {
		return dir
	}
	if slices.Contains(h.in, controller) {
		return h.v2
	}
	return ""
}

// version of a controller: 1, 2, or 0 where there is none.
func (h *hierarchy) version(controller string) int {
	switch {
	case h.v1[controller] != "":
		return 1
	case slices.Contains(h.in, controller):
		return 2
	}
	return 0
}

// leafName is where this process moves to: version 2 gives controllers only
// to groups whose parent holds no process.
const leafName = "ostraka-agent"

// prepare makes version 2 give its controllers to groups below. Nothing is
// changed where every controller is of version 1.
func (h *hierarchy) prepare() error {
	var wanted []string
	for _, c := range []string{memoryController, pidsController, cpuController} {
		if h.version(c) == 2 {
			wanted = append(wanted, "+"+c)
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	control := filepath.Join(h.v2, "cgroup.subtree_control")
	err := os.WriteFile(control, []byte(strings.Join(wanted, " ")), 0)
	if errors.Is(err, syscall.EBUSY) {
		if err = h.stepAside(); err == nil {
			err = os.WriteFile(control, []byte(strings.Join(wanted, " ")), 0)
		}
	}
	if err != nil {
		return fmt.Errorf("passing cgroup controllers on: %w", err)
	}
	return nil
}

// stepAside moves this process and its children into a group of their own.
// Processes of others are not moved.
func (h *hierarchy) stepAside() error {
	text, err := os.ReadFile(filepath.Join(h.v2, "cgroup.procs"))
	if err != nil {
		return err
	}
	pids := strings.Fields(string(text))
	for _, pid := range pids {
		if !descendsFromSelf(pid) {
			return fmt.Errorf("process %s of somebody else is in the agent's cgroup %s", pid, h.v2)
		}
	}
	leaf := filepath.Join(h.v2, leafName)
	if err := os.Mkdir(leaf, 0o755); err != nil && !errors.Is(err, fs.ErrExist) { //nolint:gosec // a cgroup: the mode says who may read
		return err
	}
	for _, pid := range pids {
		if err := os.WriteFile(filepath.Join(leaf, "cgroup.procs"), []byte(pid), 0); err != nil && !errors.Is(err, syscall.ESRCH) {
			return err
		}
	}
	return nil
}

func descendsFromSelf(pid string) bool {
	self := strconv.Itoa(os.Getpid())
	for pid != "" && pid != "0" && pid != "1" {
		if pid == self {
			return true
		}
		pid = parentOf(pid)
	}
	return pid == self
}

func parentOf(pid string) string {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return ""
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 2 {
		return ""
	}
	return string(fields[1])
}

// groupPrefix begins the names of sandboxes' cgroups; the agent's process and
// when it was started follow, so that leftovers of a dead agent are known.
const groupPrefix = "ostraka-sandbox-"

// startedAt is when a process was started, in ticks since boot; empty when
// there is no such process.
func startedAt(pid int) string {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ""
	}
	const start = 19
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) <= start {
		return ""
	}
	return string(fields[start])
}

func groupName(n uint64) string {
	return fmt.Sprintf("%s%d-%s-%d", groupPrefix, os.Getpid(), startedAt(os.Getpid()), n)
}

// removeLeftovers removes the cgroups of agents that are gone, and what still
// runs in them.
func (h *hierarchy) removeLeftovers() error {
	var failed error
	for _, dir := range h.folders() {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return fmt.Errorf("looking for cgroups that are left over: %w", err)
		}
		for _, e := range entries {
			if e.IsDir() && leftover(e.Name()) {
				failed = errors.Join(failed, removeGroup(filepath.Join(dir, e.Name())))
			}
		}
	}
	return failed
}

// leftover tells whether the agent that a cgroup is named after is gone.
func leftover(name string) bool {
	rest, ok := strings.CutPrefix(name, groupPrefix)
	parts := strings.Split(rest, "-")
	if !ok || len(parts) != 3 {
		return false
	}
	pid, err := strconv.Atoi(parts[0])
	return err == nil && startedAt(pid) != parts[1]
}

// folders are the distinct folders in which groups are made.
func (h *hierarchy) folders() []string {
	var dirs []string
	for _, c := range []string{memoryController, pidsController, cpuController, timeController} {
		if dir := h.folder(c); dir != "" && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// group is the cgroup of one sandbox: a folder for each hierarchy.
type group struct {
	h    *hierarchy
	name string
}

// newGroup makes the cgroup.
func (h *hierarchy) newGroup(name string) (*group, error) {
	g := &group{h: h, name: name}
	for _, dir := range h.folders() {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil { //nolint:gosec // a cgroup: the mode says who may read
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
func (g *group) limitCPU(processors float64) error {
	quota, period := int64(processors*float64(cpuPeriod.Microseconds())), cpuPeriod.Microseconds()
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
