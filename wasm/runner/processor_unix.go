//go:build unix

package runner

import (
	"time"

	"golang.org/x/sys/unix"
)

// processorTime is what this process has used so far, in all its threads.
func processorTime() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0 // only an unknown "who" can fail
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
