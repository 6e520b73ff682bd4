package runner

import (
	"time"

	"golang.org/x/sys/windows"
)

// processorTime is what this process has used so far, in all its threads.
func processorTime() time.Duration {
	var created, ended, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(windows.CurrentProcess(), &created, &ended, &kernel, &user); err != nil {
		return 0 // it only fails for processes of others
	}
	const unit = 100 * time.Nanosecond
	ticks := func(t windows.Filetime) int64 { return int64(t.HighDateTime)<<32 | int64(t.LowDateTime) }
	return time.Duration(ticks(kernel)+ticks(user)) * unit
}
