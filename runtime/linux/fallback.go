//go:build linux

package linux

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Without namespaces there is no root of its own: the workspace is a folder on
// the host, and the sandbox's user must reach it and the interpreter by path.

// prepareLandlock makes sure that sandboxes can reach what they need.
func (r *Runner) prepareLandlock() error {
	if !r.root {
		return nil
	}
	for _, b := range r.binds {
		if err := reachable(b.Source); err != nil {
			return err
		}
	}
	return reachable(r.cfg.Dir)
}

// reachable tells whether another user can go to a path.
func reachable(path string) error {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o001 == 0 {
			return fmt.Errorf("%s is closed to other users, so a sandbox's user cannot reach %s: run the agent as an ordinary user, or give it a folder with --data that all may enter", dir, path)
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
	}
}

// furnishLandlock makes the workspace on the host.
func (s *Sandbox) furnishLandlock() error {
	if err := os.Chmod(s.dir, 0o711); err != nil { //nolint:gosec // the sandbox's user passes through
		return err
	}
	return s.freshFolders()
}

// freshFolders makes a new workspace.
func (s *Sandbox) freshFolders() error {
	work := filepath.Join(s.dir, "work")
	if err := removeAll(work); err != nil {
		return err
	}
	for _, dir := range append([]string{"."}, workspaceNames...) {
		dir = filepath.Join(work, dir)
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
		if s.slot != nil {
			if err := os.Lchown(dir, s.slot.uid, s.slot.uid); err != nil {
				return err
			}
		}
	}
	s.workspace.Store(work)
	return nil
}

// removeDir removes the lease's folder, in which a function may have done what
// it liked.
func (s *Sandbox) removeDir() error { return removeAll(s.dir) }

func removeAll(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	parent, err := os.OpenRoot(filepath.Dir(dir))
	if err != nil {
		return fmt.Errorf("removing a workspace: %w", err)
	}
	defer parent.Close()
	if err := openUp(parent, filepath.Base(dir)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing a workspace: %w", err)
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("removing a workspace: %w", err)
	}
	return nil
}

// openUp gives the owner every folder back.
func openUp(root *os.Root, name string) error {
	if err := root.Chmod(name, 0o700); err != nil {
		return err
	}
	entries, err := fs.ReadDir(root.FS(), name)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.IsDir() {
			if err := openUp(root, filepath.Join(name, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

func owner(info fs.FileInfo) (uid, gid int) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return os.Geteuid(), os.Getegid()
	}
	return int(stat.Uid), int(stat.Gid)
}
