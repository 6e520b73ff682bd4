//go:build unix

package wasm

import (
	"fmt"
	"os"
	"syscall"
)

func checkPrivate(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("opening the module cache: %w", err)
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); !ok || !info.IsDir() || info.Mode().Perm() != 0o700 || int(stat.Uid) != os.Getuid() {
		return fmt.Errorf("opening the module cache: %w: %s holds code that will be run and must be a directory of this user with mode 0700, not %v; move it away or run chmod 700", ErrNotPrivate, dir, info.Mode())
	}
	return nil
}
