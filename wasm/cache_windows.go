package wasm

import (
	"fmt"
	"os"
)

// checkPrivate asks for a folder. Whose it is follows from where it lies: the
// rights of a user's own folders are inherited.
func checkPrivate(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("opening the module cache: %w", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("opening the module cache: %w: %s holds code that will be run and must be a folder, not %v; move it away", ErrNotPrivate, dir, info.Mode())
	}
	return nil
}
