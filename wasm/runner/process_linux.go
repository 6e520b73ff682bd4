package runner

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// self is the binary that runs now, even if the file was replaced since:
// server and runner must speak the same protocol.
const self = "/proc/self/exe"

// environment is what a runner's process has: nothing.
func environment() []string { return []string{} }

// alone gives a runner a group of its own, and has the kernel end it with the
// thread that started it.
func alone(cmd *exec.Cmd) {
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// kill ends a runner at once: the group, in case there should ever be more than
// one process in it.
func kill(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) } // gone already is fine

// pipeBytes is how much waits in a pipe between server and runner: enough that
// both work most of the time instead of waking each other for every frame. It
// is the most that an ordinary user may ask for.
const pipeBytes = 1 << 20

// widen makes a pipe larger. Where that is refused (the user has many pipes, or
// the machine allows less) it stays as it is, which is slower and nothing else.
func widen(pipe any) {
	conn, ok := pipe.(syscall.Conn)
	if !ok {
		return
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		_, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, pipeBytes)
	})
}
