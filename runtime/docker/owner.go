//go:build linux

package docker

import (
	"bytes"
	"os"
	"strconv"
	"strings"

	"github.com/ostraka/ostraka/runtime/linux"
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
	return owner{machine: machine(), process: strconv.Itoa(os.Getpid()) + "/" + linux.StartedAt(os.Getpid())}
}

// machine is where process numbers mean the same: one boot of one kernel, one namespace of processes.
func machine() string {
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	space, _ := os.Readlink("/proc/self/ns/pid")
	return string(bytes.TrimSpace(boot)) + "/" + space
}

// gone tells whether the process that made a container has ended. For another machine that is unknown here.
func gone(labels map[string]string) bool {
	if labels[labelMachine] != machine() {
		return false
	}
	pid, started, found := cutOwner(labels[labelOwner])
	return found && linux.StartedAt(pid) != started
}

func cutOwner(text string) (pid int, started string, found bool) {
	number, started, found := strings.Cut(text, "/")
	pid, err := strconv.Atoi(number)
	return pid, started, found && err == nil && len(started) > 0
}
