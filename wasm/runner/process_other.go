//go:build !linux

package runner

import (
	"os"
	"os/exec"
)

// self is the binary that runs now, as the system finds it by its path. A server
// whose file was replaced ends: see Engine.
var self = func() string {
	path, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return path
}()

// environment is what a runner's process has: nothing but what Windows cannot
// start one without.
func environment() []string {
	if root := os.Getenv("SYSTEMROOT"); root != "" {
		return []string{"SYSTEMROOT=" + root}
	}
	return []string{}
}

// alone starts a runner where nothing of the caller's lies.
func alone(cmd *exec.Cmd) { cmd.Dir = os.TempDir() }

// kill ends a runner at once.
func kill(p *os.Process) { _ = p.Kill() } // gone already is fine

// widen leaves a pipe as it is.
func widen(any) {}
