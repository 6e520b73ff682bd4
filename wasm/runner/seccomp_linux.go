package runner

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The system calls of a runner. Whatever is not listed fails with EPERM: there
// are no sockets, no programs, no other processes, and once the module is
// loaded no files. The Go runtime needs the most of what is left.
var (
	runCalls = []uintptr{
		unix.SYS_READ, unix.SYS_WRITE, unix.SYS_CLOSE, unix.SYS_FCNTL,
		unix.SYS_MMAP, unix.SYS_MUNMAP, unix.SYS_MPROTECT, unix.SYS_MADVISE, unix.SYS_MREMAP, unix.SYS_BRK, unix.SYS_MINCORE,
		unix.SYS_FUTEX, unix.SYS_SCHED_YIELD, unix.SYS_SCHED_GETAFFINITY, unix.SYS_NANOSLEEP, unix.SYS_CLOCK_NANOSLEEP,
		unix.SYS_CLOCK_GETTIME, unix.SYS_GETTIMEOFDAY, unix.SYS_GETRANDOM, unix.SYS_GETPID, unix.SYS_GETRUSAGE, unix.SYS_GETTID,
		unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGRETURN, unix.SYS_SIGALTSTACK, unix.SYS_TGKILL,
		unix.SYS_RESTART_SYSCALL, unix.SYS_SET_ROBUST_LIST, unix.SYS_RSEQ,
		unix.SYS_EPOLL_CREATE1, unix.SYS_EPOLL_CTL, unix.SYS_EPOLL_PWAIT, unix.SYS_EVENTFD2, unix.SYS_PIPE2,
		unix.SYS_EXIT, unix.SYS_EXIT_GROUP,
	}
	// loadCalls are those that opening the compile cache needs on top, and the
	// second filter itself.
	loadCalls = []uintptr{
		unix.SYS_OPENAT, unix.SYS_FSTAT, unix.SYS_NEWFSTATAT, unix.SYS_STATX, unix.SYS_LSEEK, unix.SYS_PREAD64, unix.SYS_GETDENTS64,
		unix.SYS_MKDIRAT, unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2, unix.SYS_UNLINKAT, unix.SYS_FSYNC, unix.SYS_FCHMOD, unix.SYS_FACCESSAT,
		unix.SYS_GETCWD, unix.SYS_UNAME, unix.SYS_SECCOMP,
	}
)

// errNoSeccomp says that this machine has no filters for system calls.
var errNoSeccomp = errors.New("this kernel or architecture offers no seccomp filter")

// restrict lets all threads of this process make only the given system calls
// from now on. What an earlier call took away stays away.
func restrict(calls ...[]uintptr) error {
	if auditArch == 0 {
		return errNoSeccomp
	}
	program := filter(calls)
	prog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&prog))) //nolint:gosec // the kernel reads the program here
	runtime.KeepAlive(program)
	switch errno {
	case 0:
		return nil
	case unix.ENOSYS, unix.EINVAL:
		return errNoSeccomp
	default:
		return fmt.Errorf("restricting system calls: %w", errno)
	}
}

// Offsets in the kernel's struct seccomp_data.
const (
	dataNumber = 0
	dataArch   = 4
	dataArg0   = 16 // the low half, on the little-endian machines that we know
)

// filter is the program that the kernel runs for each system call.
func filter(calls [][]uintptr) []unix.SockFilter {
	load := func(offset uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
	}
	answer := func(k uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: k} }
	// unlessEqual skips the given number of instructions.
	unlessEqual := func(k uint32, skip uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: k, Jf: skip}
	}
	refuse := func(errno unix.Errno) unix.SockFilter { return answer(unix.SECCOMP_RET_ERRNO | uint32(errno)) }
	program := []unix.SockFilter{
		load(dataArch),
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: auditArch, Jt: 1},
		answer(unix.SECCOMP_RET_KILL_PROCESS),
		load(dataNumber),
		// The flags of clone3 are out of a filter's sight; libraries fall back to clone.
		unlessEqual(unix.SYS_CLONE3, 1), refuse(unix.ENOSYS),
	}
	for _, list := range append(calls, archCalls) {
		for _, call := range list {
			program = append(program, unlessEqual(uint32(call), 1), answer(unix.SECCOMP_RET_ALLOW))
		}
	}
	return append(program,
		// Threads, not processes.
		unlessEqual(unix.SYS_CLONE, 3), load(dataArg0),
		unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, K: unix.CLONE_THREAD, Jf: 1}, answer(unix.SECCOMP_RET_ALLOW),
		refuse(unix.EPERM))
}

// Niceness is the priority that runners give themselves: the server and its database go first when all want to run.
const Niceness = 5

// giveWay lowers the priority of every thread: on Linux each has its own.
func giveWay() {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return // a preference, not a wall
	}
	for _, t := range threads {
		if id, err := strconv.Atoi(t.Name()); err == nil {
			_ = unix.Setpriority(unix.PRIO_PROCESS, id, Niceness) // it may have ended
		}
	}
}
