package monitor

import (
	"os"
	"path/filepath"
	"strings"
)

// cgroup is where the figures of a sandbox's cgroup are. A path is "" where its controller is not there.
type cgroup struct {
	memory, inactive, cpu, pids string
	inactiveName                string // of the line of the file inactive
	cpuName                     string // of the line of the file cpu; "": it is one number, in nanoseconds
}

// controllers are the directories of version 1 that may hold a controller.
func controllers(of string) []string {
	switch of {
	case "cpuacct":
		return []string{"cpuacct", "cpu,cpuacct", "cpuacct,cpu", "cpu"}
	default:
		return []string{of}
	}
}

// findCgroup finds the files of a cgroup. Under version 1 the same path lies below one directory for each controller, and any of
// them may be given.
func findCgroup(dir string) cgroup {
	if dir == "" {
		return cgroup{}
	}
	if there(filepath.Join(dir, "cgroup.controllers")) {
		return cgroup{
			memory: existing(filepath.Join(dir, "memory.current")), inactive: existing(filepath.Join(dir, "memory.stat")), inactiveName: "inactive_file",
			cpu: existing(filepath.Join(dir, "cpu.stat")), cpuName: "usage_usec", pids: existing(filepath.Join(dir, "pids.current")),
		}
	}
	in := func(controller, file string) string {
		for _, name := range controllers(controller) {
			if path := existing(filepath.Join(sibling(dir, name), file)); path != "" {
				return path
			}
		}
		return ""
	}
	return cgroup{
		memory: in("memory", "memory.usage_in_bytes"), inactive: in("memory", "memory.stat"), inactiveName: "total_inactive_file",
		cpu: in("cpuacct", "cpuacct.usage"), pids: in("pids", "pids.current"),
	}
}

// sibling is the same cgroup below another controller: /sys/fs/cgroup/memory/a/b and /sys/fs/cgroup/pids/a/b.
func sibling(dir, controller string) string {
	parts := strings.Split(dir, "/")
	for i, part := range parts {
		for _, known := range []string{"memory", "pids", "cpu", "cpuacct", "cpu,cpuacct", "cpuacct,cpu"} {
			if part == known {
				parts[i] = controller
				return strings.Join(parts, "/")
			}
		}
	}
	return dir
}

func there(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func existing(path string) string {
	if there(path) {
		return path
	}
	return ""
}

// memoryBytes is what the cgroup holds without files that it has only read: those are given back when memory gets short.
func (c *cgroup) memoryBytes(read *reader) (int64, bool) {
	if c.memory == "" {
		return 0, false
	}
	total, ok := read.number(c.memory)
	if !ok {
		return 0, false
	}
	if c.inactive != "" {
		if cached, found := read.named(c.inactive, c.inactiveName+" "); found {
			total = max(0, total-cached)
		}
	}
	return total, true
}

// cpuMicros is the processor time so far, in microseconds.
func (c *cgroup) cpuMicros(read *reader) (int64, bool) {
	switch {
	case c.cpu == "":
		return 0, false
	case c.cpuName == "":
		nanos, ok := read.number(c.cpu)
		return nanos / 1000, ok
	default:
		return read.named(c.cpu, c.cpuName+" ")
	}
}
