//go:build linux

package main

import (
	"io/fs"
	"math"
	"os"
	"path"
	"runtime/debug"
	"strconv"
	"strings"
)

// memoryShare is how much of the memory that there is the server's own heap may take before it is collected ever more eagerly, in percent:
// the rest is for its runners, its sandboxes and the kernel.
const memoryShare = 70

// limitMemory tells the garbage collector how much memory there is, unless GOMEMLIMIT does.
func limitMemory() {
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	if most := availableMemory(os.DirFS("/")); most > 0 {
		debug.SetMemoryLimit(most / 100 * memoryShare)
	}
}

// availableMemory is the least of the machine's memory and the limits of the control groups that the process is in, in bytes; 0: unknown.
func availableMemory(root fs.FS) int64 {
	least := machineMemory(root)
	for group := ownGroup(root); ; group = path.Dir(group) {
		text, err := fs.ReadFile(root, path.Join("sys/fs/cgroup", group, "memory.max"))
		if n, bad := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && bad == nil && n > 0 && (least == 0 || n < least) {
			least = n
		}
		if group == "/" || group == "." {
			return least
		}
	}
}

// ownGroup is the process's control group of version 2.
func ownGroup(root fs.FS) string {
	text, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return "/"
	}
	for line := range strings.Lines(string(text)) {
		if group, ok := strings.CutPrefix(strings.TrimSpace(line), "0::"); ok {
			return path.Clean("/" + group)
		}
	}
	return "/"
}

func machineMemory(root fs.FS) int64 {
	text, err := fs.ReadFile(root, "proc/meminfo")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "MemTotal:"); ok {
			kib, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			if err != nil || kib > math.MaxInt64/1024 {
				return 0
			}
			return kib * 1024
		}
	}
	return 0
}
