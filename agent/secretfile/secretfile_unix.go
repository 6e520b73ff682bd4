//go:build unix

package secretfile

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// openSafely keeps a link from leading astray, and a special file from holding up.
const openSafely = unix.O_NOFOLLOW | unix.O_NONBLOCK

func othersMayRead(mode fs.FileMode) bool { return mode.Perm()&0o077 != 0 }
