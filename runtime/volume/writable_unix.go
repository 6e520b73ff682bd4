//go:build !windows

package volume

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lock takes a folder for one sandbox of this machine, also before other agents. The lock goes with the folder's descriptors.
func lock(f *os.File) (free bool, err error) {
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// freeOf is how many bytes are free for ordinary users on the disk that a folder lies on.
func freeOf(f *os.File) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Fstatfs(int(f.Fd()), &s); err != nil {
		return 0, err
	}
	return int64(s.Bavail) * int64(s.Bsize), nil //nolint:unconvert // they differ between systems
}
