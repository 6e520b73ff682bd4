//go:build !linux

package runner

import (
	"errors"
	"os"
	"runtime"
	"runtime/debug"
)

// threads is how many the Go scheduler uses: one for the guest, one for the
// collector.
const threads = 2

// errNoSeccomp says that this system has no filters for system calls.
var errNoSeccomp = errors.New("this system offers no seccomp filter")

var runCalls []uintptr // there is no filter to name them for

// confine takes away what can be without Linux. The walls are those of
// WebAssembly: the guest has no call that reaches the system, its memory is
// bounded by our allocator, its instructions by the meter, and the process is
// killed from outside. Compiling is bounded by time alone.
func confine(s Setup) error {
	runtime.GOMAXPROCS(threads)
	debug.SetTraceback("none") // a crash needs its first line only
	debug.SetMemoryLimit(int64(s.Data))
	return os.Chdir(os.TempDir())
}

// restrict does nothing here.
func restrict(...[]uintptr) error { return errNoSeccomp }
