// Package filelock holds files against other processes. A lock ends with its process, whatever happens to it.
package filelock

import (
	"errors"
	"os"
)

// ErrHeld says that another process holds the lock.
var ErrHeld = errors.New("another process holds the lock")

// Try takes the lock, or returns ErrHeld at once. Closing the file gives it up.
func Try(path string) (*os.File, error) { return open(path, false) }

// Wait takes the lock as soon as it is free. It is for what others hold for a moment only.
func Wait(path string) (*os.File, error) { return open(path, true) }
