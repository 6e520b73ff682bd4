//go:build linux

package linux

import "golang.org/x/sys/unix"

const (
	auditArch = unix.AUDIT_ARCH_X86_64
	// x32Bit marks the calls of the x32 ABI, which share the architecture.
	x32Bit = 0x40000000
)

// machineCalls are those of commonCalls in the spellings that only this
// architecture still has.
var machineCalls = []uintptr{
	unix.SYS_OPEN, unix.SYS_CREAT, unix.SYS_STAT, unix.SYS_LSTAT, unix.SYS_ACCESS, unix.SYS_POLL, unix.SYS_SELECT, unix.SYS_PIPE, unix.SYS_DUP2,
	unix.SYS_RENAME, unix.SYS_MKDIR, unix.SYS_RMDIR, unix.SYS_LINK, unix.SYS_UNLINK, unix.SYS_SYMLINK, unix.SYS_READLINK, unix.SYS_CHMOD,
	unix.SYS_CHOWN, unix.SYS_LCHOWN, unix.SYS_UTIME, unix.SYS_UTIMES, unix.SYS_FUTIMESAT, unix.SYS_EPOLL_CREATE, unix.SYS_EPOLL_WAIT,
	unix.SYS_EVENTFD, unix.SYS_SIGNALFD, unix.SYS_GETPGRP, unix.SYS_TIME, unix.SYS_ALARM, unix.SYS_PAUSE, unix.SYS_GETDENTS, unix.SYS_FORK, unix.SYS_VFORK,
}

var machineAttributeCalls = []uintptr{unix.SYS_CHMOD, unix.SYS_CHOWN, unix.SYS_LCHOWN, unix.SYS_UTIME, unix.SYS_UTIMES, unix.SYS_FUTIMESAT}

// forkCalls start processes besides clone.
var forkCalls = []uintptr{unix.SYS_FORK, unix.SYS_VFORK}

const (
	archSetFS = 0x1002
	archGetFS = 0x1003
)

// machineChecks are the checks of arguments that only this architecture needs.
func (p *program) machineChecks(denied uint32) {
	p.check(unix.SYS_ARCH_PRCTL, 0, anyBits, verdictAllow, denied, archSetFS, archGetFS)
	p.check(unix.SYS_MKNOD, 1, unix.S_IFMT, verdictAllow, denied, unix.S_IFIFO, unix.S_IFREG, 0)
	p.on(denied, unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_MODIFY_LDT, unix.SYS_USELIB, unix.SYS_USTAT, unix.SYS_SYSFS, unix.SYS_KEXEC_FILE_LOAD)
}
