package monitor

import (
	"errors"
	"io/fs"
	"os"
	"time"
)

const (
	// MaxWorkspaceFiles is how many files of a workspace are counted at a time; the rest is reported as "at least". Counting so many
	// takes some 20 ms.
	MaxWorkspaceFiles = 10_000
	// walkEvery is how often a workspace is counted that is no file system of its own. Asking a file system costs almost nothing.
	walkEvery = 5 * time.Second
	// walkBudget is how long counting workspaces may take in one tick, all together; those that are left have their turn in the next.
	walkBudget = 100 * time.Millisecond
)

// errEnough ends a walk.
var errEnough = errors.New("enough files were counted")

// countWorkspace adds up the files below a directory. The sandbox may change it meanwhile in any way: os.Root keeps the walk inside,
// and what cannot be read is left out. Of more files than most, so many are counted.
func countWorkspace(dir string, most int) (bytes int64, partial bool) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return 0, false
	}
	defer root.Close()
	files := 0
	err = fs.WalkDir(root.FS(), ".", func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // it vanished, or its owner locked it
		}
		if files++; files > most {
			return errEnough
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			bytes += onDisk(info)
		}
		return nil
	})
	return bytes, errors.Is(err, errEnough)
}
