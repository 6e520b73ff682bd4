//go:build linux

package docker

import (
	"bytes"
	"os"
	"strconv"
	"strings"
)

// Labels of containers.
const (
	labelOurs         = "org.ostraka.recheck"
	labelInstallation = "org.ostraka.installation"
	labelMachine      = "org.ostraka.machine"
	labelOwner        = "org.ostraka.owner"
)

// owner names a process for as long as its machine runs: numbers of processes
// are given out again, when they were started is not.
type owner struct{ machine, process string }

// thisProcess is who makes containers here.
func thisProcess() owner {
	return owner{machine: machine(), process: strconv.Itoa(os.Getpid()) + "/" + startedAt(os.Getpid())}
}

// machine is where process numbers mean the same: one boot of one kernel, one namespace of processes.
func machine() string {
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	space, _ := os.Readlink("/proc/self/ns/pid")
	return string(bytes.TrimSpace(boot)) + "/" + space
}

// startedAt is when a process was started, in ticks since boot; empty when there is none.
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

// gone tells whether the process that made a container is no more. Of another machine nobody here knows.
func gone(labels map[string]string) bool {
	if labels[labelMachine] != machine() {
		return false
	}
	pid, started, found := cutOwner(labels[labelOwner])
	return found && startedAt(pid) != started
}

func cutOwner(text string) (pid int, started string, found bool) {
	number, started, found := strings.Cut(text, "/")
	pid, err := strconv.Atoi(number)
	return pid, started, found && err == nil && len(started) > 0
}
