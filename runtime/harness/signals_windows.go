package harness

import "syscall"

// There are no signals on Windows: nothing reports these.
const (
	sigKILL = syscall.SIGKILL
	sigBUS  = syscall.Signal(7)
	sigSYS  = syscall.Signal(31)
	sigXCPU = syscall.Signal(24)
	sigXFSZ = syscall.Signal(25)
)

// openSafely is nothing: an os.Root follows no link out, and there are no special files in folders.
const openSafely = 0

func systemName(s syscall.Signal) string { return s.String() }
