package process

import (
	"fmt"
	"io/fs"
	"os"
	"path"
)

// removeAll removes a directory in which a function did what it liked. Its
// processes are gone. A directory without permissions for its owner is opened
// up first; an os.Root keeps that inside, whatever links lie about.
func removeAll(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	if err := openUp(dir); err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("removing a workspace: %w", err)
	}
	return nil
}

func openUp(dir string) error {
	if err := os.Chmod(dir, 0o700); err != nil { //nolint:gosec // a directory needs its execute bit
		return fmt.Errorf("opening up a workspace: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("opening up a workspace: %w", err)
	}
	defer root.Close()
	return walk(root, ".")
}

// walk gives the owner every directory below dir back.
func walk(root *os.Root, dir string) error {
	entries, err := fs.ReadDir(root.FS(), dir)
	if err != nil {
		return fmt.Errorf("opening up a workspace: %w", err)
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		name := path.Join(dir, e.Name())
		if err := root.Chmod(name, 0o700); err != nil {
			return fmt.Errorf("opening up a workspace: %w", err)
		}
		if err := walk(root, name); err != nil {
			return err
		}
	}
	return nil
}
