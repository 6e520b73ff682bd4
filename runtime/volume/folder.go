package volume

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// ErrUnsupported says that this system cannot show folders to functions.
var ErrUnsupported = errors.New("volumes need Linux or macOS: this system cannot show functions a folder")

// Folder is a folder of this machine that is open, to be shown to functions.
type Folder struct {
	Name string // of the volume
	Mode Mode
	path string
	file *os.File // the folder itself, whatever lies at its path by now
	lane *lane    // where functions write to it; nil: they only read it
}

// Open opens the folder of a volume. Its path must lead there without any link.
func Open(name, path string, blocked Blocklist) (*Folder, error) {
	if err := CheckName(name); err != nil {
		return nil, fmt.Errorf("opening a volume: %w", err)
	}
	if err := blocked.Check(path); err != nil {
		return nil, fmt.Errorf("opening volume %s: %w", name, err)
	}
	file, err := openFolder(path)
	if err != nil {
		return nil, fmt.Errorf("opening volume %s: %w", name, err)
	}
	f := &Folder{Name: name, Mode: ReadOnly, path: path, file: file}
	if err := f.check(blocked); err != nil {
		return nil, errors.Join(fmt.Errorf("opening volume %s: %w", name, err), f.Close())
	}
	return f, nil
}

func (f *Folder) check(blocked Blocklist) error {
	info, err := f.file.Stat()
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is no folder", f.path)
	}
	if err := blocked.is(info); err != nil {
		return err
	}
	if err := checkKind(f.file); err != nil {
		return err
	}
	return checkMounts(f.path)
}

// Path is where the folder was when it was opened.
func (f *Folder) Path() string { return f.path }

// File is the folder itself.
func (f *Folder) File() *os.File { return f.file }

// Close lets go of it. What functions have written to it stays for the next sandbox.
func (f *Folder) Close() error { return errors.Join(f.release(), f.file.Close()) }

// CloseAll lets go of several.
func CloseAll(folders []*Folder) (err error) {
	for _, f := range folders {
		err = errors.Join(err, f.Close())
	}
	return err
}

// Resolve is the path of a folder without links, for callers that store it.
func Resolve(path string) (string, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("finding %s: %w", path, err)
	}
	real, err := filepath.EvalSymlinks(absolute)
	if err != nil {
		return "", fmt.Errorf("finding %s: %w", path, err)
	}
	info, err := os.Stat(real)
	if err != nil {
		return "", fmt.Errorf("finding %s: %w", path, err)
	}
	if !info.IsDir() {
		return "", fmt.Errorf("%s is no folder", path)
	}
	return real, nil
}

// Link makes a folder in which each volume is a link to where it lies: for levels of isolation without a root of their own.
func Link(dir string, folders []*Folder) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fmt.Errorf("making the folder of volumes: %w", err)
	}
	if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // the sandbox's user reads it; its parent is private
		return fmt.Errorf("making the folder of volumes: %w", err)
	}
	for _, f := range folders {
		if err := os.Symlink(f.path, filepath.Join(dir, f.Name)); err != nil {
			return fmt.Errorf("linking volume %s: %w", f.Name, err)
		}
	}
	return nil
}
