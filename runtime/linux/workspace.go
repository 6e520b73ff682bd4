//go:build linux

package linux

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"

	"golang.org/x/sys/unix"
)

// maxWipeDepth is how deep folders of a workspace are wiped; the interpreter
// is started again, with a new workspace, where a shard went deeper.
const maxWipeDepth = 16

// errTangled says that a workspace cannot be wiped at a sensible cost.
var errTangled = errors.New("the workspace cannot be wiped")

// refresh empties the workspace: its folders are there, with the modes that
// they were made with, and nothing else. It works through an os.Root, so that
// nothing outside is touched whatever links lie about.
func (s *Sandbox) refresh() error {
	if s.session.PID() == 0 {
		return nil // the import has failed, so nothing will run
	}
	if s.runner.contained() {
		return s.refreshContained()
	}
	if s.runner.namespaces() { // the folder itself is the shard's as well
		if err := unix.Fchmod(s.files, 0o700); err != nil {
			return fmt.Errorf("opening the workspace: %w", err)
		}
	}
	root, err := os.OpenRoot(s.root())
	if err != nil {
		return fmt.Errorf("opening the workspace: %w", err)
	}
	defer root.Close()
	if err := wipe(root); err != nil {
		return fmt.Errorf("%w: %w", errTangled, err)
	}
	return nil
}

// wipe removes what is too much and makes what is missing. In most cases there
// is nothing to do, and looking is cheap.
func wipe(root *os.Root) error {
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return err
	}
	kept := map[string]bool{}
	for _, e := range entries {
		keep, err := tidy(root, e)
		if err != nil {
			return err
		}
		kept[e.Name()] = keep
	}
	for _, name := range workspaceNames {
		if !kept[name] {
			if err := make0700(root, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// tidy empties one of the workspace's own folders, or removes what is none.
func tidy(root *os.Root, e fs.DirEntry) (keep bool, err error) {
	if !e.IsDir() {
		return false, root.Remove(e.Name())
	}
	info, err := root.Lstat(e.Name())
	if err != nil {
		return false, err
	}
	if !isOwn(e.Name()) || info.Mode() != fs.ModeDir|0o700 {
		return false, removeTree(root, e.Name(), 0)
	}
	inner, err := fs.ReadDir(root.FS(), e.Name())
	if err != nil {
		return false, err
	}
	for _, i := range inner {
		if err := removeTree(root, path.Join(e.Name(), i.Name()), 1); err != nil {
			return false, err
		}
	}
	return true, nil
}

func isOwn(name string) bool {
	for _, own := range workspaceNames {
		if name == own {
			return true
		}
	}
	return false
}

// make0700 makes one of the workspace's folders, for the user of the workspace.
func make0700(root *os.Root, name string) error {
	if err := root.Mkdir(name, 0o700); err != nil {
		return err
	}
	info, err := root.Stat(".")
	if err != nil {
		return err
	}
	uid, gid := owner(info)
	if uid == os.Geteuid() {
		return nil
	}
	return root.Lchown(name, uid, gid)
}

// removeTree removes a file or a folder with what is in it, down to a depth.
func removeTree(root *os.Root, name string, depth int) error {
	err := root.Remove(name)
	if err == nil {
		return nil
	}
	info, statErr := root.Lstat(name)
	switch {
	case statErr != nil:
		return statErr
	case !info.IsDir():
		return err
	case depth == maxWipeDepth:
		return fmt.Errorf("%.100q lies deeper than %d folders", name, maxWipeDepth)
	}
	if info.Mode().Perm()&0o700 != 0o700 {
		if err := root.Chmod(name, 0o700); err != nil {
			return err
		}
	}
	entries, err := fs.ReadDir(root.FS(), name)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := removeTree(root, path.Join(name, e.Name()), depth+1); err != nil {
			return err
		}
	}
	return root.Remove(name)
}
