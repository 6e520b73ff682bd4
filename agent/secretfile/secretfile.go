// Package secretfile keeps secrets in files: written whole or not at all, readable by their owner alone, and refused if
// others could read them.
package secretfile

import (
	"fmt"
	"io"
	"os"

	"github.com/ostraka/ostraka/agent/wholefile"
)

// MaxBytes is the largest file, in bytes: keys and tokens are far below a kilobyte, and a larger file is not one of ours.
const MaxBytes = 64 << 10

// Write puts a file of mode 0600 in place whole or not at all, also across a loss of power.
func Write(path string, content []byte) error {
	if err := write(path, content); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

func write(path string, content []byte) error {
	if len(content) > MaxBytes {
		return fmt.Errorf("it would have %d bytes, at most %d are allowed", len(content), MaxBytes)
	}
	return wholefile.Write(path, content, 0o600)
}

// Read reads a file that Write wrote; the error is fs.ErrNotExist where there is none. It refuses a file that others may read: a
// secret that has leaked must be replaced, not used.
func Read(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|openSafely, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("looking at %s: %w", path, err)
	}
	if mode := info.Mode(); !mode.IsRegular() || othersMayRead(mode) {
		return nil, fmt.Errorf("%s has mode %v, so others may know the secret in it: replace the secret, or chmod 600 the file if nobody can have read it", path, mode)
	}
	content, err := io.ReadAll(io.LimitReader(f, MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	if len(content) > MaxBytes {
		return nil, fmt.Errorf("%s has more than %d bytes, so it holds no secret of ours", path, MaxBytes)
	}
	return content, nil
}
