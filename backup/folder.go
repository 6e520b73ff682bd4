package backup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// unfinishedText is for people who find the file.
const unfinishedText = "A backup was begun here and is not finished: nothing can be restored of it. Run the same command again, and it goes on.\n"

// folder is where a backup is being made. It is this process's alone as long as it lives.
type folder struct {
	dir     string
	mark    *os.File
	resumed bool // what an earlier run has copied is there
}

// openFolder makes the folder, or goes on in one where a backup was cut off. It refuses any other that holds something.
func openFolder(dir string) (*folder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the folder of the backup: %w", err)
	}
	if _, err := os.Stat(filepath.Join(dir, manifestName)); err == nil {
		return nil, fmt.Errorf("%s holds a whole backup: name another folder", dir)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("looking into the folder of the backup: %w", err)
	}
	_, err = os.Stat(filepath.Join(dir, unfinishedName))
	resumed := err == nil
	if len(entries) > 0 && !resumed {
		return nil, fmt.Errorf("%s holds other things (%s): name a folder that is empty, or that there is not yet", dir, entries[0].Name())
	}
	mark, err := os.OpenFile(filepath.Join(dir, unfinishedName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("marking the folder of the backup: %w", err)
	}
	f := &folder{dir: dir, mark: mark, resumed: resumed}
	if err := f.take(); err != nil {
		mark.Close()
		return nil, err
	}
	return f, nil
}

// take locks the folder, and removes the copy of a database of an earlier moment: objects alone are worth keeping.
func (f *folder) take() error {
	if err := unix.Flock(int(f.mark.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return fmt.Errorf("another process makes a backup in %s: %w", f.dir, err)
	}
	if err := f.mark.Truncate(0); err != nil {
		return fmt.Errorf("marking the folder of the backup: %w", err)
	}
	if _, err := f.mark.WriteAt([]byte(unfinishedText), 0); err != nil {
		return fmt.Errorf("marking the folder of the backup: %w", err)
	}
	if err := errors.Join(f.mark.Sync(), syncFolder(f.dir)); err != nil {
		return fmt.Errorf("marking the folder of the backup: %w", err)
	}
	for _, name := range []string{databaseName, listName, referredName} {
		if err := os.Remove(f.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("removing what an earlier run has left: %w", err)
		}
	}
	return nil
}

func (f *folder) path(name string) string { return filepath.Join(f.dir, name) }

// finish takes the mark away, once the manifest is there.
func (f *folder) finish() error {
	if err := errors.Join(os.Remove(f.path(unfinishedName)), syncFolder(f.dir)); err != nil {
		return fmt.Errorf("finishing the folder of the backup: %w", err)
	}
	return nil
}

func (f *folder) close() { f.mark.Close() }
