//go:build linux

package linux

import "golang.org/x/sys/unix"

const (
	auditArch = unix.AUDIT_ARCH_AARCH64
	x32Bit    = 0 // there is no second ABI under the same architecture
)

// machineCalls: this architecture has no old spellings.
var machineCalls []uintptr

var machineAttributeCalls []uintptr

// forkCalls: there is clone only.
var forkCalls []uintptr

func (p *program) machineChecks(denied uint32) { p.on(denied, unix.SYS_KEXEC_FILE_LOAD) }
