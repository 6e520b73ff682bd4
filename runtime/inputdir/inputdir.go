// Package inputdir keeps the folder on this machine that a sandbox shows a shard as $OSTRAKA_INPUT.
package inputdir

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/ostraka/ostraka/runtime/inputfile"
)

// ErrMismatch says that what was opened for a file is not what its digest and size promise.
var ErrMismatch = errors.New("the bytes of an input file are not those that its digest promises")

// Open opens the bytes of a file.
type Open func(ctx context.Context, f inputfile.File) (io.ReadCloser, error)

// Dir is such a folder. It is changed between shards only, when no process of the sandbox lives, and stays the same folder: a sandbox
// may have mounted it.
type Dir struct{ dir string }

// Make makes the folder; its parent exists. Others may read what is in it: how far they come is up to the parent.
func Make(dir string) (*Dir, error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the folder of input files: %w", err)
	}
	if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // the sandbox's user reads it
		return nil, fmt.Errorf("making the folder of input files: %w", err)
	}
	return &Dir{dir: dir}, nil
}

// At is a folder that is there and is ours: a container's own, which nobody could replace.
func At(dir string) *Dir { return &Dir{dir: dir} }

// Path is the folder as this process can open it.
func (d *Dir) Path() string { return d.dir }

// Replace makes the files all that lies in the folder. Each is copied and its bytes are checked on the way, so that nothing that a
// shard does to its own copy reaches another shard. After an error the folder is empty.
func (d *Dir) Replace(ctx context.Context, files []inputfile.File, open Open) error {
	if err := d.replace(ctx, files, open); err != nil {
		return errors.Join(fmt.Errorf("laying the input files of a shard: %w", err), d.Empty())
	}
	return nil
}

func (d *Dir) replace(ctx context.Context, files []inputfile.File, open Open) error {
	if err := inputfile.Check(files); err != nil {
		return err
	}
	if err := d.Empty(); err != nil {
		return err
	}
	root, err := d.root()
	if err != nil {
		return err
	}
	defer root.Close()
	for _, f := range files {
		if err := makeFolders(root, path.Dir(f.Path)); err != nil {
			return err
		}
		if err := lay(ctx, root, f, open); err != nil {
			return fmt.Errorf("%.80q: %w", f.Path, err)
		}
	}
	return nil
}

// root opens the folder, unless a shard that could has put something else there.
func (d *Dir) root() (*os.Root, error) {
	info, err := os.Lstat(d.dir)
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir():
		if err := os.RemoveAll(d.dir); err != nil {
			return nil, err
		}
		if _, err := Make(d.dir); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, err
	case info.Mode().Perm() != 0o755:
		if err := os.Chmod(d.dir, 0o755); err != nil { //nolint:gosec // the sandbox's user reads it
			return nil, err
		}
	}
	return os.OpenRoot(d.dir)
}

func makeFolders(root *os.Root, dir string) error {
	if dir == "." {
		return nil
	}
	if err := makeFolders(root, path.Dir(dir)); err != nil {
		return err
	}
	name := filepath.FromSlash(dir)
	if err := root.Mkdir(name, 0o700); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return nil
		}
		return err
	}
	return root.Chmod(name, 0o755)
}

func lay(ctx context.Context, root *os.Root, f inputfile.File, open Open) error {
	in, err := open(ctx, f)
	if err != nil {
		return err
	}
	defer in.Close()
	name := filepath.FromSlash(f.Path)
	out, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	err = Copy(ctx, out, in, f)
	if closeErr := out.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	return root.Chmod(name, 0o444)
}

// Copy copies the bytes of a file and checks that they are its. What was written counts only when there is no error.
func Copy(ctx context.Context, to io.Writer, from io.Reader, f inputfile.File) error {
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(to, sum), io.LimitReader(&cancelled{ctx, from}, f.Size+1))
	switch {
	case err != nil:
		return err
	case n > f.Size:
		return fmt.Errorf("%w: there are more than %d bytes", ErrMismatch, f.Size)
	case n < f.Size:
		return fmt.Errorf("%w: there are %d bytes instead of %d", ErrMismatch, n, f.Size)
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != f.Digest {
		return fmt.Errorf("%w: they have the digest %s, not %s", ErrMismatch, got, f.Digest)
	}
	return nil
}

// cancelled stops reading when the context ends.
type cancelled struct {
	ctx  context.Context
	from io.Reader
}

// Read implements io.Reader.
func (c *cancelled) Read(p []byte) (int, error) {
	if err := context.Cause(c.ctx); err != nil {
		return 0, err
	}
	return c.from.Read(p)
}

// Empty removes everything in the folder.
func (d *Dir) Empty() error {
	root, err := d.root()
	if err != nil {
		return fmt.Errorf("emptying the folder of input files: %w", err)
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return fmt.Errorf("emptying the folder of input files: %w", err)
	}
	for _, e := range entries {
		if err := remove(root, e.Name()); err != nil {
			return fmt.Errorf("emptying the folder of input files: %w", err)
		}
	}
	return nil
}

// remove removes a file or folder; a shard that had the right to may have closed folders.
func remove(root *os.Root, name string) error {
	if root.RemoveAll(name) == nil {
		return nil
	}
	if err := openUp(root, name); err != nil {
		return err
	}
	return root.RemoveAll(name)
}

func openUp(root *os.Root, name string) error {
	info, err := root.Lstat(name)
	if err != nil || !info.IsDir() {
		return err
	}
	if err := root.Chmod(name, 0o700); err != nil {
		return err
	}
	entries, err := fs.ReadDir(root.FS(), filepath.ToSlash(name))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := openUp(root, filepath.Join(name, e.Name())); err != nil {
			return err
		}
	}
	return nil
}
