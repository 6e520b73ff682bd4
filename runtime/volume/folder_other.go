//go:build !linux

package volume

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// Supported says whether functions can be shown folders here: on Windows links take a privilege.
const Supported = runtime.GOOS != "windows"

// openFolder opens a folder by a path in which no link is.
func openFolder(path string) (*os.File, error) {
	if !Supported {
		return nil, ErrUnsupported
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	if real != path {
		return nil, fmt.Errorf("there is a link in %s: name the folder that it leads to, %s", path, real)
	}
	return os.Open(path)
}

func checkKind(*os.File) error { return nil }

func checkMounts(string) error { return nil }

// root is the folder for reading what lies in it, if it is still the one that was opened.
func (f *Folder) root() (*os.Root, error) {
	root, err := os.OpenRoot(f.path)
	if err != nil {
		return nil, err
	}
	there, err := root.Stat(".")
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	if opened, err := f.file.Stat(); err != nil || !os.SameFile(there, opened) {
		return nil, errors.Join(fmt.Errorf("%s is another folder than the one that was checked", f.path), err, root.Close())
	}
	return root, nil
}
