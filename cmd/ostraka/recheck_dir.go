//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// recheckDir is a private folder of this process, which it holds a lock on while it lives.
type recheckDir struct {
	path string
	lock *os.File
}

// recheckPrefix begins the names of such folders.
const recheckPrefix = "server-"

// makeRecheckDir makes one beside that for modules, and removes those of servers that were killed; or one among the system's temporary
// files where it may make none there.
func makeRecheckDir(config serverConfig) (*recheckDir, error) {
	beside := filepath.Join(filepath.Dir(config.CacheDir), "recheck")
	if os.MkdirAll(beside, 0o700) == nil {
		if d, err := recheckDirIn(beside); err == nil {
			return d, nil
		}
	}
	path, err := os.MkdirTemp("", "ostraka-recheck-")
	if err != nil {
		return nil, err
	}
	return &recheckDir{path: path}, nil
}

// recheckDirIn makes one while it holds a lock on the folder of all, so that no server takes a new one for left over.
func recheckDirIn(parent string) (*recheckDir, error) {
	all, err := os.Open(parent)
	if err != nil {
		return nil, err
	}
	defer all.Close()
	if err := unix.Flock(int(all.Fd()), unix.LOCK_EX); err != nil {
		return nil, fmt.Errorf("locking %s: %w", parent, err)
	}
	if err := removeKilled(parent); err != nil {
		return nil, err
	}
	path, err := os.MkdirTemp(parent, recheckPrefix)
	if err != nil {
		return nil, err
	}
	lock, err := lockDir(path)
	if err != nil {
		return nil, errors.Join(err, os.Remove(path))
	}
	return &recheckDir{path: path, lock: lock}, nil
}

// removeKilled removes the folders that no process holds any more.
func removeKilled(parent string) error {
	left, err := filepath.Glob(filepath.Join(parent, recheckPrefix+"*"))
	if err != nil {
		return err
	}
	for _, path := range left {
		lock, err := lockDir(path)
		if err != nil {
			continue // its server lives, or it is another user's
		}
		err = os.RemoveAll(path)
		lock.Close()
		if err != nil {
			return fmt.Errorf("removing what a server that was killed has left: %w", err)
		}
	}
	return nil
}

func lockDir(path string) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		return nil, fmt.Errorf("locking %s: %w", path, err)
	}
	return f, nil
}

func (d *recheckDir) remove() error {
	err := os.RemoveAll(d.path)
	if d.lock != nil {
		err = errors.Join(err, d.lock.Close())
	}
	return err
}
