package blob

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/google/uuid"
)

// directory keeps objects as files below a root that no link leads out of.
type directory struct {
	root    *os.Root
	scratch *scratch
}

// OpenDir returns a store that keeps its objects in a local directory, which is
// made when missing. A write is atomic and durable: the object is complete under
// its name, on the disk, or not there at all. Temporary files that killed
// processes have left are removed; other live processes may use the directory
// at the same time.
func OpenDir(dir string) (*Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the object store's directory: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("opening the object store's directory: %w", err)
	}
	scratch, err := openScratch(root)
	if err != nil {
		root.Close()
		return nil, fmt.Errorf("preparing the object store in %s: %w", dir, err)
	}
	return &Store{backend: &directory{root: root, scratch: scratch}}, nil
}

func (d *directory) spool() (*os.File, error) {
	return d.root.OpenFile(d.scratch.path(uuid.NewString()), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
}

// name is a spooled file's path below the root.
func (d *directory) name(f *os.File) string { return d.scratch.path(filepath.Base(f.Name())) }

func (d *directory) commit(_ context.Context, f *os.File, key string, _ [sha256.Size]byte, _ int64) error {
	if err := f.Sync(); err != nil {
		return fmt.Errorf("flushing it to the disk: %w", err)
	}
	parent := path.Dir(key)
	if err := d.makeDirs(parent); err != nil {
		return err
	}
	if err := d.root.Rename(d.name(f), key); err != nil {
		return fmt.Errorf("moving it into place: %w", err)
	}
	return d.syncDir(parent)
}

func (d *directory) discard(f *os.File) {
	f.Close()
	_ = d.root.Remove(d.name(f)) // moved already, or swept at the next start
}

// makeDirs makes the directories of a key, each one durably.
func (d *directory) makeDirs(key string) error {
	made := "."
	for name := range strings.SplitSeq(key, "/") {
		parent := made
		made = path.Join(parent, name)
		err := d.root.Mkdir(made, 0o700)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("making its directory: %w", err)
		}
		if err := d.syncDir(parent); err != nil {
			return err
		}
	}
	return nil
}

func (d *directory) syncDir(name string) error {
	f, err := d.root.Open(name)
	if err != nil {
		return fmt.Errorf("flushing a directory: %w", err)
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("flushing a directory: %w", err)
	}
	return nil
}

func (d *directory) open(ctx context.Context, key string) (io.ReadCloser, int64, error) {
	size, err := d.stat(ctx, key) // before opening: opening a pipe would wait forever
	if err != nil {
		return nil, 0, err
	}
	f, err := d.root.Open(key)
	if err != nil {
		return nil, 0, notFound(err)
	}
	return f, size, nil
}

func (d *directory) stat(ctx context.Context, key string) (int64, error) {
	if err := context.Cause(ctx); err != nil {
		return 0, err
	}
	info, err := d.root.Lstat(key)
	if err != nil {
		return 0, notFound(err)
	}
	if !info.Mode().IsRegular() {
		return 0, fmt.Errorf("%w: it is no regular file", ErrCorrupt)
	}
	return info.Size(), nil
}

func notFound(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return ErrNotFound
	}
	return err
}

func (d *directory) remove(_ context.Context, key string) error {
	err := d.root.Remove(key)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return d.syncDir(path.Dir(key))
}

func (d *directory) removeAll(ctx context.Context, prefix string) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	name := strings.TrimSuffix(prefix, "/")
	if _, err := d.root.Lstat(name); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := d.root.RemoveAll(name); err != nil {
		return err
	}
	return d.syncDir(path.Dir(name))
}

// ping writes, since a full or read-only disk is what goes wrong here.
func (d *directory) ping(context.Context) error {
	f, err := d.spool()
	if err != nil {
		return err
	}
	defer d.discard(f)
	if _, err := f.WriteString("ping"); err != nil {
		return err
	}
	return nil
}

func (d *directory) close() error { return errors.Join(d.scratch.close(d.root), d.root.Close()) }
