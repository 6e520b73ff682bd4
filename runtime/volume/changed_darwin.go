package volume

import (
	"io/fs"
	"syscall"
	"time"
)

// changed is when the kernel saw a file change last: unlike its time of modification it cannot be set back.
func changed(info fs.FileInfo) time.Time {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(s.Ctimespec.Unix()).UTC()
	}
	return time.Time{}
}
