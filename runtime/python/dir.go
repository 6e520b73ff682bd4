package python

import (
	"fmt"
	"os"
	"path/filepath"
)

// DefaultDir is where the programs of one user share an unpacked interpreter:
// in the user's cache ($XDG_CACHE_HOME or ~/.cache on Linux), because it can be
// made again at any time.
func DefaultDir() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("finding a folder for the interpreter: %w: set HOME or XDG_CACHE_HOME to a folder of yours", err)
	}
	return filepath.Join(cache, "ostraka", "python"), nil
}

// makePrivate makes a folder that nobody else may enter, and refuses one in
// which somebody else could exchange what we verify.
func makePrivate(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
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
	if info.Mode().Perm()&0o077 == 0 {
		return nil
	}
	return explain(os.Chmod(dir, 0o700)) //nolint:gosec // a folder needs its execute bit
}
