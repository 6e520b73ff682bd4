//go:build linux

package linux

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// finish holds all that the last steps need, made beforehand.
type finish struct {
	cgroups    []int
	namespaces bool
	ruleset    int // of Landlock; -1: none
	last       uintptr
	filter     unix.SockFprog
	path       *byte
	argv, env  []*byte

	header unix.CapUserHeader
	none   [2]unix.CapUserData
}

var zero = [1]byte{'0'}

// do gives up everything and becomes the interpreter. It reports the step that
// failed and why. The
// number of threads is not limited here, as Go may start one at any time and
// dies when it cannot: the zygote does it, before there is any user code.
//
//nolint:gosec // the kernel takes addresses
func (f *finish) do() (int, syscall.Errno) {
	for _, fd := range f.cgroups {
		if _, _, e := syscall.RawSyscall(unix.SYS_WRITE, uintptr(fd), uintptr(unsafe.Pointer(&zero[0])), 1); e != 0 {
			return 1, e
		}
	}
	if f.namespaces {
		// Only now, so that the cgroup is the root of what it sees.
		if _, _, e := syscall.RawSyscall(unix.SYS_UNSHARE, unix.CLONE_NEWCGROUP, 0, 0); e != 0 {
			return 2, e
		}
		for c := uintptr(0); c <= f.last; c++ {
			if _, _, e := syscall.RawSyscall6(unix.SYS_PRCTL, unix.PR_CAPBSET_DROP, c, 0, 0, 0, 0); e != 0 {
				return 3, e
			}
		}
	}
	// A kernel that does not know them (gVisor's) has none.
	if _, _, e := syscall.RawSyscall6(unix.SYS_PRCTL, unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0, 0); e != 0 && e != unix.EINVAL {
		return 4, e
	}
	f.header.Version = unix.LINUX_CAPABILITY_VERSION_3
	if _, _, e := syscall.RawSyscall(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&f.header)), uintptr(unsafe.Pointer(&f.none[0])), 0); e != 0 {
		return 5, e
	}
	if f.ruleset >= 0 {
		if _, _, e := syscall.RawSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(f.ruleset), 0, 0); e != 0 {
			return 6, e
		}
	}
	// When the agent's thread dies, so does this: the agent keeps its threads.
	if _, _, e := syscall.RawSyscall6(unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0, 0); e != 0 {
		return 7, e
	}
	if e := f.load(); e != 0 {
		return 8, e
	}
	// Not closed at once: Go's other threads use some of them until the end.
	if _, _, e := syscall.RawSyscall(unix.SYS_CLOSE_RANGE, controlFD+1, ^uintptr(0)>>32, unix.CLOSE_RANGE_CLOEXEC); e != 0 {
		return 9, e
	}
	_, _, e := syscall.RawSyscall(unix.SYS_EXECVE, uintptr(unsafe.Pointer(f.path)), uintptr(unsafe.Pointer(&f.argv[0])), uintptr(unsafe.Pointer(&f.env[0])))
	return 10, e
}

// load installs the filter.
//
//nolint:gosec // the kernel takes addresses
func (f *finish) load() syscall.Errno {
	_, _, e := syscall.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&f.filter)))
	return e
}

// lastCapability is the highest that this kernel knows. The launcher asks the
// kernel itself, as it may have no /proc any more.
func lastCapability() uintptr {
	for c := uintptr(0); ; c++ {
		if _, _, e := syscall.RawSyscall6(unix.SYS_PRCTL, unix.PR_CAPBSET_READ, c, 0, 0, 0, 0); e != 0 {
			return c - 1
		}
	}
}

// readNumber reads a file that holds one number.
func readNumber(path string) (int64, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	return parseNumber(string(text))
}

func parseNumber(text string) (int64, error) {
	return strconv.ParseInt(strings.TrimSpace(text), 10, 64)
}
