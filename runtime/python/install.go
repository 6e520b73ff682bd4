package python

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

const (
	lockName  = "lock"
	tmpPrefix = "tmp-"
	useSuffix = ".use"
	// digestInName is how much of a manifest's digest is in a tree's name: enough to tell versions apart, short enough for a path.
	digestInName = 16
	// lockEvery is how often a process asks for the lock that another one holds while it unpacks.
	lockEvery = 50 * time.Millisecond
)

// source is what a tree is made of.
type source struct {
	files    fs.FS // a file of the manifest under its path, or compressed under its path and .gz
	manifest Manifest
	// compile compiles the sources of a tree, in order, into the folder out, and tells of each when it is done.
	compile func(ctx context.Context, interpreter, tree, out string, sources []string, done func()) error
}

// installer unpacks one source below one private directory.
type installer struct {
	source
	dir    string
	report func(done, total int64)
}

func (i installer) name() string {
	return i.manifest.Version + "-" + i.manifest.Digest[:digestInName]
}

// install is Install below the choice of directory.
func (i installer) install(ctx context.Context) (t Tree, err error) {
	if err := makePrivate(i.dir); err != nil {
		return Tree{}, err
	}
	lock := flock.New(filepath.Join(i.dir, lockName), flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, lockEvery); err != nil {
		return Tree{}, fmt.Errorf("waiting for another process that unpacks it: %w", explain(err))
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	repaired, err := i.ensure(ctx)
	if err != nil {
		return Tree{}, explain(err)
	}
	hold := flock.New(i.tree()+useSuffix, flock.SetPermissions(0o600))
	if _, err := hold.TryRLockContext(ctx, lockEvery); err != nil {
		return Tree{}, fmt.Errorf("holding the tree: %w", explain(err))
	}
	if err := i.sweep(); err != nil {
		return Tree{}, errors.Join(err, hold.Close())
	}
	return Tree{
		Dir: i.tree(), Interpreter: filepath.Join(i.tree(), filepath.FromSlash(i.manifest.Interpreter)), Paths: []string{i.tree()},
		Digest: i.manifest.Digest, Version: i.manifest.Version, Origin: OriginEmbedded, Repaired: repaired, hold: hold,
	}, nil
}

func (i installer) tree() string { return filepath.Join(i.dir, i.name()) }

// ensure makes sure of a whole tree and names what it had to put right in one that was there.
func (i installer) ensure(ctx context.Context) (repaired []string, err error) {
	info, err := os.Lstat(i.tree())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, i.unpack(ctx)
	case err != nil:
		return nil, fmt.Errorf("looking at the tree: %w", err)
	case !info.IsDir():
		if err := os.Remove(i.tree()); err != nil {
			return nil, fmt.Errorf("removing what lies in the tree's place: %w", err)
		}
		return []string{"."}, i.unpack(ctx)
	}
	return i.mend(ctx, i.tree())
}

// unpack makes a whole tree beside its place and moves it there, so that a tree in its place was whole once.
func (i installer) unpack(ctx context.Context) error {
	stage, err := os.MkdirTemp(i.dir, tmpPrefix)
	if err != nil {
		return fmt.Errorf("making a folder: %w", err)
	}
	defer removeTree(stage) //nolint:errcheck // the next install sweeps what is left
	tree := filepath.Join(stage, "tree")
	if err := os.Mkdir(tree, 0o755); err != nil { // see the package's comment: its parent is closed to others
		return fmt.Errorf("making a folder: %w", err)
	}
	if _, err := i.mend(ctx, tree); err != nil {
		return err
	}
	if err := os.Rename(tree, i.tree()); err != nil {
		return fmt.Errorf("moving the tree into its place: %w", err)
	}
	return nil
}

// sweep removes what interrupted installs and other versions left, but for trees that a process still uses. Only the holder of
// the lock may call it.
func (i installer) sweep() error {
	entries, err := os.ReadDir(i.dir)
	if err != nil {
		return fmt.Errorf("looking for old versions: %w", err)
	}
	for _, e := range entries {
		name := e.Name()
		switch {
		case name == lockName || name == i.name() || strings.HasSuffix(name, useSuffix) && strings.TrimSuffix(name, useSuffix) == i.name():
		case strings.HasPrefix(name, tmpPrefix):
			err = errors.Join(err, removeTree(filepath.Join(i.dir, name)))
		case e.IsDir():
			err = errors.Join(err, i.sweepTree(name))
		}
	}
	return err
}

// sweepTree removes a tree of another version unless somebody holds it.
func (i installer) sweepTree(name string) error {
	use := flock.New(filepath.Join(i.dir, name)+useSuffix, flock.SetPermissions(0o600))
	free, err := use.TryLock()
	if err != nil || !free {
		return err
	}
	err = removeTree(filepath.Join(i.dir, name))
	return errors.Join(err, use.Close(), os.Remove(use.Path()))
}

// removeTree removes a folder of ours.
func removeTree(dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("removing %s: %w", dir, err)
	}
	return nil
}
