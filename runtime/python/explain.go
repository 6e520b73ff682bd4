package python

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// NeededBytes is the free space that unpacking wants, at most: the tree (52 MB)
// and its compiled part once more while it is made.
const NeededBytes = 80 << 20

// explain adds what to do to errors of a file system.
func explain(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("%w: it needs %d MiB: make room, or name a folder on another disk with OSTRAKA_PYTHON_DIR", err, NeededBytes>>20)
	case errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w: name a folder that can be written with OSTRAKA_PYTHON_DIR", err)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w: make it a folder of the user who runs this program, or name one with OSTRAKA_PYTHON_DIR", err)
	default:
		return err
	}
}
