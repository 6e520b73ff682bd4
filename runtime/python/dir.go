package python

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// DefaultDir is where the programs of one user share an unpacked interpreter:
// in the user's cache ($XDG_CACHE_HOME or ~/.cache on Linux), because it can be
// made again at any time.
func DefaultDir() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("finding a folder for the interpreter: %w: name one with OSTRAKA_PYTHON_DIR", err)
	}
	return filepath.Join(cache, "ostraka", "python"), nil
}

// modePrivate lets others pass through, to the tree whose name they know, and
// neither list nor write: a sandbox without namespaces reaches the interpreter
// as a user of its own.
const modePrivate = 0o711

// makePrivate makes a folder in which no other user can exchange what we verify,
// and refuses one that is another user's.
func makePrivate(dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return explain(err)
	}
	if err := os.Mkdir(dir, modePrivate); err != nil && !errors.Is(err, fs.ErrExist) {
		return explain(err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return explain(err)
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is no folder: move it away, or choose another place", dir)
	}
	if err := ownedByUs(info); err != nil {
		return fmt.Errorf("%s %w: give it to the user who runs this program, or choose another place", dir, err)
	}
	if info.Mode().Perm() == modePrivate {
		return nil
	}
	return explain(os.Chmod(dir, modePrivate)) // whatever the umask is, and even if it was opened to others
}
