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
	if err := os.Mkdir(leaf, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
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

// StartedAt is when a process was started, in ticks since boot; empty when
// there is no such process. With it a number of a process means one process.
func StartedAt(pid int) string {
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
	return fmt.Sprintf("%s%d-%s-%d", groupPrefix, os.Getpid(), StartedAt(os.Getpid()), n)
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
	return err == nil && StartedAt(pid) != parts[1]
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
