package blob

import (
	"errors"
	"fmt"
	"os"
	"path"

	"github.com/google/uuid"
	"golang.org/x/sys/unix"
)

const (
	scratchRoot = "tmp"
	scratchLock = scratchRoot + "/lock"
)

// scratch is one process's directory for files that are being written. It lies
// below the store's root, since a rename works within one file system only, and
// holds a lock as long as the process lives, by which a later one knows which
// directories that are no longer written.
type scratch struct {
	dir  string
	lock *os.File
}

func (s *scratch) path(name string) string { return path.Join(s.dir, name) }

// openScratch sweeps what dead processes have left and makes a directory.
func openScratch(root *os.Root) (*scratch, error) {
	if err := root.MkdirAll(scratchRoot, 0o700); err != nil {
		return nil, fmt.Errorf("making the directory for temporary files: %w", err)
	}
	guard, err := root.OpenFile(scratchLock, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the lock of the temporary files: %w", err)
	}
	defer guard.Close()
	// Held only while directories are looked through and one is made, so that no
	// sweep sees a directory before it is locked.
	if err := unix.Flock(int(guard.Fd()), unix.LOCK_EX); err != nil {
		return nil, fmt.Errorf("locking the temporary files: %w", err)
	}
	if err := sweepScratch(root); err != nil {
		return nil, err
	}
	s := &scratch{dir: path.Join(scratchRoot, uuid.NewString())}
	if err := root.Mkdir(s.dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the directory for temporary files: %w", err)
	}
	if s.lock, err = root.Open(s.dir); err != nil {
		return nil, fmt.Errorf("opening the directory for temporary files: %w", err)
	}
	if err := unix.Flock(int(s.lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		s.lock.Close()
		return nil, fmt.Errorf("locking the directory for temporary files: %w", err)
	}
	return s, nil
}

func sweepScratch(root *os.Root) error {
	dir, err := root.Open(scratchRoot)
	if err != nil {
		return fmt.Errorf("looking for left temporary files: %w", err)
	}
	defer dir.Close()
	entries, err := dir.ReadDir(-1)
	if err != nil {
		return fmt.Errorf("looking for left temporary files: %w", err)
	}
	for _, e := range entries {
		name := path.Join(scratchRoot, e.Name())
		if name == scratchLock || (e.IsDir() && isLocked(root, name)) {
			continue
		}
		if err := root.RemoveAll(name); err != nil {
			return fmt.Errorf("removing left temporary files: %w", err)
		}
	}
	return nil
}

// isLocked tells whether a live process writes to the directory.
func isLocked(root *os.Root, name string) bool {
	f, err := root.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB), unix.EWOULDBLOCK)
}

func (s *scratch) close(root *os.Root) error {
	return errors.Join(root.RemoveAll(s.dir), s.lock.Close())
}
