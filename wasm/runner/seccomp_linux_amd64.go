package runner

import "golang.org/x/sys/unix"

const auditArch = unix.AUDIT_ARCH_X86_64

var archCalls = []uintptr{unix.SYS_EPOLL_WAIT}
