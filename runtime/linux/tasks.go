//go:build linux

package linux

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// otherTasks is by how many processes and threads everything else that the
// agent's user runs may grow without disturbing a sandbox that has no
// namespace of its own.
const otherTasks = 512

// tasksOf counts the processes and threads of a user.
func tasksOf(uid int) int64 {
	processes, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return 0 // a pattern that is no pattern: never
	}
	var n int64
	for _, p := range processes {
		info, err := os.Stat(p)
		if err != nil {
			continue // it has gone
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); !ok || int(stat.Uid) != uid && stat.Uid != 0 {
			continue // a process that hides belongs to root, as far as can be seen
		}
		n += threads(p)
	}
	return n
}

func threads(process string) int64 {
	text, err := os.ReadFile(filepath.Join(process, "status"))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "Threads:"); ok {
			n, err := parseNumber(rest)
			if err != nil {
				return 0
			}
			return n
		}
	}
	return 0
}
