package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

// ticksPerSecond is in which parts of a second Linux tells of processor time, see sysconf(3); it is 100 on every machine that Debian runs on.
const ticksPerSecond = 100

// used is what /proc/PID/stat says of a process.
type used struct {
	parent int
	time   float64 // seconds, with that of the children that it has waited for
}

// timeOf is the processor time, in seconds, of programs and of all that descends from them.
func timeOf(programs []*exec.Cmd) (seconds float64, err error) {
	processes, err := allProcesses()
	if err != nil {
		return 0, err
	}
	wanted := map[int]bool{}
	for _, p := range programs {
		wanted[p.Process.Pid] = true
	}
	for pid, p := range processes {
		if descends(processes, wanted, pid) {
			seconds += p.time
		}
	}
	return seconds, nil
}

func descends(processes map[int]used, from map[int]bool, pid int) bool {
	for range len(processes) + 1 {
		if from[pid] {
			return true
		}
		p, found := processes[pid]
		if !found {
			return false
		}
		pid = p.parent
	}
	return false
}

func allProcesses() (map[int]used, error) {
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	processes := map[int]used{}
	for _, file := range files {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil {
			return nil, err
		}
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		if processes[pid], err = parseStat(text); err != nil {
			return nil, err
		}
	}
	return processes, nil
}

// parseStat reads fields 4 and 14 to 17 of proc_pid_stat(5). The second may hold spaces and parentheses.
func parseStat(text []byte) (used, error) {
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 15 {
		return used{}, fmt.Errorf("the kernel tells of a process %q", text)
	}
	var n [5]int
	for i, at := range []int{1, 11, 12, 13, 14} {
		var err error
		if n[i], err = strconv.Atoi(string(fields[at])); err != nil {
			return used{}, fmt.Errorf("the kernel tells of a process %q", text)
		}
	}
	return used{parent: n[0], time: float64(n[1]+n[2]+n[3]+n[4]) / ticksPerSecond}, nil
}
