package volume

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
)

// measure looks at all that lies in a lane, while a function is at work there.
func measure(path string, most int64) (Usage, error) {
	root, err := os.OpenRoot(path)
	if errors.Is(err, fs.ErrPermission) {
		return Usage{}, errTangled
	}
	if err != nil {
		return Usage{}, err
	}
	defer root.Close()
	return walk(root, most, false, func(string, fs.FileInfo) error { return nil })
}

// errTangled and errMany say that a lane cannot be looked at as a whole, which is its function's doing.
var (
	errTangled = errors.New("its folders are closed, or nested too deeply")
	errMany    = errors.New("there are more files and folders than can be")
)

// atFault says whether an error is a function's doing, so that what it has kept is to go.
func atFault(err error) bool {
	return errors.Is(err, ErrFull) || errors.Is(err, errTangled) || errors.Is(err, errMany)
}

// ofMachine says whether an error is no function's doing: what a look did not find then may be there all the same.
func ofMachine(err error) bool {
	return slices.ContainsFunc([]error{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.EIO}, func(e error) bool { return errors.Is(err, e) })
}

// walk visits all that lies in a lane. A function that closes folders to its user hides what is in them: they are opened again, and whole says that nothing
// may stay hidden; otherwise what vanishes meanwhile is no error.
func walk(root *os.Root, most int64, whole bool, visit func(name string, info fs.FileInfo) error) (sum Usage, err error) {
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrPermission) {
			return errTangled
		}
		if err != nil {
			if whole || ofMachine(err) {
				return err
			}
			return nil // the function is at work there; the next look sees more
		}
		if name == "." {
			return nil
		}
		switch {
		case strings.Count(name, "/") >= MaxDepth:
			return errTangled
		case sum.Files >= most:
			return fmt.Errorf("%w: %d", errMany, most)
		}
		info, err := d.Info()
		if err != nil {
			if ofMachine(err) {
				return err
			}
			return nil // it is gone
		}
		sum.Files++
		if info.Mode().IsRegular() {
			sum.Bytes += info.Size()
		}
		if d.IsDir() && info.Mode().Perm()&0o700 != 0o700 {
			_ = root.Chmod(name, 0o700) // where that fails, reading it does
		}
		return visit(name, info)
	})
	return sum, err
}
