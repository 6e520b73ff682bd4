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
		return fmt.Errorf("%w: it needs %d MiB: make room, or set XDG_CACHE_HOME to a folder on another disk", err, NeededBytes>>20)
	case errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w: set XDG_CACHE_HOME to a folder that can be written", err)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w: make it a folder of the user who runs this program, or set XDG_CACHE_HOME to one", err)
	default:
		return err
	}
}
