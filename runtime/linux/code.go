//go:build linux

package linux

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"github.com/ostraka/ostraka/runtime/bundle"
)

// code is the bundle in a container: it belongs to the user whom the function
// has. Landlock keeps that from changing what stands in it, and nothing keeps it
// from changing modes and times; without Landlock it can do as it likes. So it is
// looked at before every shard: a microsecond or two for each file.
type code struct {
	bundle *bundle.Bundle
	seen   [sha256.Size]byte
}

func newCode(b *bundle.Bundle) (*code, error) {
	c := &code{bundle: b}
	var err error
	c.seen, err = look()
	return c, err
}

// look takes down everything that changes when a file is: nobody can set the
// time at which the kernel last saw it changed.
func look() (sum [sha256.Size]byte, err error) {
	h := sha256.New()
	err = fs.WalkDir(os.DirFS(bundleDir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		var s unix.Stat_t
		if err := unix.Lstat(bundleDir+"/"+name, &s); err != nil {
			return err
		}
		_, err = fmt.Fprintf(h, "%q %o %d %d %d %d\n", name, s.Mode, s.Size, s.Ino, s.Ctim.Sec, s.Ctim.Nsec)
		return err
	})
	if err != nil {
		return sum, fmt.Errorf("looking at the bundle: %w", err)
	}
	return [sha256.Size]byte(h.Sum(nil)), nil
}

// restore puts the bundle back when it is not as it was. What the interpreter
// has imported from it stays: only its own later shards could read the change.
func (c *code) restore() error {
	if c == nil {
		return nil
	}
	if now, err := look(); err == nil && now == c.seen {
		return nil
	}
	if err := unix.Chmod(bundleDir, 0o700); err != nil {
		return fmt.Errorf("putting the bundle back: %w", err)
	}
	root, err := os.OpenRoot(bundleDir)
	if err != nil {
		return fmt.Errorf("putting the bundle back: %w", err)
	}
	defer root.Close()
	if entries, readErr := fs.ReadDir(root.FS(), "."); readErr == nil {
		for _, e := range entries {
			err = errors.Join(err, removeTree(root, e.Name(), 0))
		}
	}
	if err = errors.Join(err, c.bundle.Unpack(bundleDir)); err != nil {
		return fmt.Errorf("putting the bundle back: %w", err)
	}
	c.seen, err = look()
	return err
}
