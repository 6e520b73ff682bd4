//go:build unix

package harness

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// The signals that say more than that a process was ended.
const (
	sigKILL = unix.SIGKILL
	sigBUS  = unix.SIGBUS  // a page that is unavailable
	sigSYS  = unix.SIGSYS  // a system call that is not allowed
	sigXCPU = unix.SIGXCPU // out of processor time
	sigXFSZ = unix.SIGXFSZ // a file that is too large
)

// openSafely keeps a special file from holding up, and a link from leading astray.
const openSafely = unix.O_NONBLOCK | unix.O_NOFOLLOW

func systemName(s syscall.Signal) string { return unix.SignalName(s) }
