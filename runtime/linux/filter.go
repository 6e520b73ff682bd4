//go:build linux

package linux

import (
	"encoding/binary"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A seccomp program is short classic BPF over this structure of the kernel's:
// number (4 bytes), architecture (4), instruction pointer (8), six arguments (8
// each). Both supported machines are little-endian, so the low half of an
// argument comes first; the kernel itself looks at no more of those that are
// compared here.
const (
	offsetNumber = 0
	offsetArch   = 4
	offsetArgs   = 16
)

const (
	verdictAllow = unix.SECCOMP_RET_ALLOW
	verdictKill  = unix.SECCOMP_RET_KILL_PROCESS
)

// refuse is the verdict that makes a call fail.
func refuse(errno unix.Errno) uint32 { return unix.SECCOMP_RET_ERRNO | uint32(errno) }

// program is a seccomp program being written.
type program []unix.SockFilter

func (p *program) add(code int, k uint32, yes, no uint8) {
	*p = append(*p, unix.SockFilter{Code: uint16(code), Jt: yes, Jf: no, K: k})
}

func (p *program) load(offset uint32) { p.add(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, offset, 0, 0) }
func (p *program) ret(verdict uint32) { p.add(unix.BPF_RET|unix.BPF_K, verdict, 0, 0) }

// equal jumps over skip instructions where the loaded value is another.
func (p *program) equal(k uint32, skip int) {
	p.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, k, 0, uint8(skip))
}

// start refuses every way of calling the kernel but the machine's own: the
// numbers of another would mean other calls.
func (p *program) start() {
	p.load(offsetArch)
	p.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, auditArch, 1, 0)
	p.ret(verdictKill)
	p.load(offsetNumber)
	if x32Bit != 0 {
		p.add(unix.BPF_JMP|unix.BPF_JGE|unix.BPF_K, x32Bit, 0, 1)
		p.ret(verdictKill)
	}
}

// on gives one verdict for some calls.
func (p *program) on(verdict uint32, calls ...uintptr) {
	for _, nr := range calls {
		p.equal(uint32(nr), 1)
		p.ret(verdict)
	}
}

// check looks at an argument, masked, of one call: the verdict is hit when it
// is one of the values, else miss.
func (p *program) check(nr uintptr, argument int, mask uint32, hit, miss uint32, values ...uint32) {
	var body program
	body.load(offsetArgs + uint32(argument)*8)
	if mask != ^uint32(0) {
		body.add(unix.BPF_ALU|unix.BPF_AND|unix.BPF_K, mask, 0, 0)
	}
	for _, v := range values {
		body.equal(v, 1)
		body.ret(hit)
	}
	body.ret(miss)
	p.equal(uint32(nr), len(body))
	*p = append(*p, body...)
}

// bytes is the program as the kernel reads it.
func (p program) bytes() []byte {
	var out []byte
	for _, f := range p {
		out = binary.NativeEndian.AppendUint16(out, f.Code)
		out = append(out, f.Jt, f.Jf)
		out = binary.NativeEndian.AppendUint32(out, f.K)
	}
	return out
}

// offsets are where k stands in the bytes.
func (p program) offsets(k uint32) []int {
	var at []int
	for i, f := range p {
		if f.K == k {
			at = append(at, i*int(unsafe.Sizeof(f))+4)
		}
	}
	return at
}

const (
	// anyBits compares a whole argument.
	anyBits = ^uint32(0)
	// newNamespaces are the flags of clone that make namespaces.
	newNamespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC |
		unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWTIME
	// socketKind is the part of a socket's type that is no flag.
	socketKind = 0xf

	// ioprioWhoProcess says to ioprio_set that a number is that of a process.
	ioprioWhoProcess = 1

	fionread = 0x541b
	fionbio  = 0x5421
	fionclex = 0x5450
	fioclex  = 0x5451
)

// sandboxFilter is what the interpreter and everything below it is under: what
// is not named is refused as if the kernel did not know it, so that the C
// library falls back to what it did before there was such a call.
//
// Without a root of its own it also cannot change modes, owners and times: no
// Landlock so far keeps anybody from doing that to whatever the same user owns.
//
// Where a function writes to a volume it cannot take room on the disk without
// writing to it: that would be more than looks at the volume keep up with, and
// beyond the end of a file no look would see it. The C library writes instead.
func sandboxFilter(ownRoot, writesVolume bool) program {
	var p program
	p.start()
	if writesVolume {
		p.on(refuse(unix.EOPNOTSUPP), unix.SYS_FALLOCATE)
	}
	if !ownRoot {
		p.on(refuse(unix.EPERM), attributeCalls...)
		p.on(refuse(unix.EPERM), machineAttributeCalls...)
	}
	p.on(verdictAllow, commonCalls...)
	p.on(verdictAllow, machineCalls...)
	denied := refuse(unix.EPERM)
	// CLONE_NEWTIME lies in the bits of the exit signal, where no signal has
	// it set.
	p.check(unix.SYS_CLONE, 0, newNamespaces, verdictAllow, denied, 0)
	// Only streams and packets: a datagram socket could be given an address.
	p.socketpair(denied)
	// The zygote asks who sends it messages; that is the one option there is.
	p.check(unix.SYS_SETSOCKOPT, 2, anyBits, verdictAllow, denied, unix.SO_PASSCRED)
	p.check(unix.SYS_IOCTL, 1, anyBits, verdictAllow, denied,
		fioclex, fionclex, fionbio, fionread, unix.TCGETS, unix.TIOCGWINSZ)
	p.check(unix.SYS_FCNTL, 1, anyBits, denied, verdictAllow,
		unix.F_SETOWN, unix.F_SETOWN_EX, unix.F_SETSIG, unix.F_NOTIFY, unix.F_SETLEASE)
	p.check(unix.SYS_PRCTL, 0, anyBits, verdictAllow, denied,
		unix.PR_SET_PDEATHSIG, unix.PR_GET_PDEATHSIG, unix.PR_GET_DUMPABLE, unix.PR_SET_DUMPABLE, unix.PR_SET_NAME, unix.PR_GET_NAME,
		unix.PR_SET_SECCOMP, unix.PR_GET_SECCOMP, unix.PR_SET_CHILD_SUBREAPER, unix.PR_GET_CHILD_SUBREAPER, unix.PR_SET_NO_NEW_PRIVS,
		unix.PR_GET_NO_NEW_PRIVS, unix.PR_CAPBSET_READ, unix.PR_SET_VMA, unix.PR_GET_TIMERSLACK,
		unix.PR_GET_TID_ADDRESS)
	// The owner binds the agent, and sandboxes with it, to some of the processors: a function does not unbind itself.
	p.on(denied, unix.SYS_SCHED_SETAFFINITY)
	// Of other processes neither limits nor priorities.
	for _, nr := range []uintptr{unix.SYS_PRLIMIT64, unix.SYS_SCHED_SETSCHEDULER, unix.SYS_SCHED_SETPARAM, unix.SYS_SCHED_SETATTR} {
		p.check(nr, 0, anyBits, verdictAllow, denied, 0)
	}
	// Nor of all processes of a group or a user: the template is one of them, and without a namespace the owner's own are.
	p.ownPriority(unix.SYS_SETPRIORITY, unix.PRIO_PROCESS, denied)
	p.ownPriority(unix.SYS_IOPRIO_SET, ioprioWhoProcess, denied)
	p.check(unix.SYS_MKNODAT, 2, unix.S_IFMT, verdictAllow, denied, unix.S_IFIFO, unix.S_IFREG, 0)
	p.machineChecks(denied)
	p.on(denied, deniedCalls...)
	p.on(refuse(unix.EOPNOTSUPP), unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR)
	p.ret(refuse(unix.ENOSYS))
	return p
}

// ownPriority allows a call that sets priorities for the caller alone: kind is
// how the first argument says that the second names one process, 0 the caller.
func (p *program) ownPriority(nr uintptr, kind, denied uint32) {
	var body program
	body.load(offsetArgs)
	body.equal(kind, 3)
	body.load(offsetArgs + 8)
	body.equal(0, 1)
	body.ret(verdictAllow)
	body.ret(denied)
	p.equal(uint32(nr), len(body))
	*p = append(*p, body...)
}

// socketpair allows pairs of local stream and packet sockets.
func (p *program) socketpair(denied uint32) {
	var body program
	body.load(offsetArgs)
	body.equal(unix.AF_UNIX, 5)
	body.load(offsetArgs + 8)
	body.add(unix.BPF_ALU|unix.BPF_AND|unix.BPF_K, socketKind, 0, 0)
	body.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, unix.SOCK_STREAM, 1, 0)
	body.equal(unix.SOCK_SEQPACKET, 1)
	body.ret(verdictAllow)
	body.ret(denied)
	p.equal(unix.SYS_SOCKETPAIR, len(body))
	*p = append(*p, body...)
}

// ownPID stands for the shard's process number, which the shard puts in its
// place. No such process can be: their numbers end at 2^22.
const ownPID = 0x0BADBEEF

// shardFilter is what a shard without a cgroup adds: threads but no processes,
// no other program, signals only to itself.
func shardFilter() (filter []byte, own []int) {
	var p program
	p.start()
	none := refuse(unix.EAGAIN) // as if there were no room for another process
	p.check(unix.SYS_CLONE, 0, unix.CLONE_THREAD, verdictAllow, none, unix.CLONE_THREAD)
	p.on(none, forkCalls...)
	denied := refuse(unix.EPERM)
	p.on(denied, unix.SYS_EXECVE, unix.SYS_EXECVEAT, unix.SYS_TKILL)
	p.check(unix.SYS_KILL, 0, anyBits, verdictAllow, denied, ownPID, 0)
	p.check(unix.SYS_TGKILL, 0, anyBits, verdictAllow, denied, ownPID)
	p.check(unix.SYS_RT_SIGQUEUEINFO, 0, anyBits, verdictAllow, denied, ownPID)
	p.check(unix.SYS_RT_TGSIGQUEUEINFO, 0, anyBits, verdictAllow, denied, ownPID)
	p.ret(verdictAllow)
	return p.bytes(), p.offsets(ownPID)
}
