package python

import (
	"bytes"
	"compress/gzip"
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
	"slices"
)

// errDamaged says that the program's own copy is not what its manifest says.
var errDamaged = errors.New("this program is damaged: install it again")

// mend compares a tree with the manifest and repairs it from the program. It names the files that it touched.
func (i installer) mend(ctx context.Context, tree string) ([]string, error) {
	root, err := os.OpenRoot(tree)
	if err != nil {
		return nil, fmt.Errorf("opening the tree: %w", err)
	}
	defer root.Close()
	if err := root.Chmod(".", 0o755); err != nil { // see the package's comment: its parent is closed to others
		return nil, fmt.Errorf("opening the tree: %w", err)
	}
	found, err := i.manifest.inspect(ctx, root)
	if err != nil || len(found.wrong)+len(found.extra) == 0 {
		return nil, err
	}
	if err := i.putRight(ctx, root, found); err != nil {
		return nil, err
	}
	left, err := i.manifest.inspect(ctx, root)
	if err != nil {
		return nil, err
	}
	if names := left.paths(); len(names) > 0 {
		return nil, fmt.Errorf("%s is wrong as soon as it is put right: somebody changes it, or the disk is failing", filepath.Join(tree, names[0]))
	}
	return found.paths(), nil
}

func (i installer) putRight(ctx context.Context, root *os.Root, found findings) error {
	for _, name := range found.extra {
		if err := root.RemoveAll(name); err != nil {
			return fmt.Errorf("removing what is not part of the interpreter: %w", err)
		}
	}
	p := i.progress(found.wrong)
	var compiled []Entry
	for _, e := range found.wrong {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if e.compiled() {
			compiled = append(compiled, e)
			continue
		}
		data, err := i.read(e)
		if err != nil {
			return fmt.Errorf("reading %s: %w", e.Path, err)
		}
		if err := place(root, e, data); err != nil {
			return err
		}
		p.add(e.Size)
	}
	if len(compiled) == 0 {
		return nil
	}
	return i.recompile(ctx, root, compiled, p)
}

// read is a file of the manifest as the program carries it.
func (i installer) read(e Entry) ([]byte, error) {
	data, err := fs.ReadFile(i.files, e.Path)
	if errors.Is(err, fs.ErrNotExist) {
		data, err = i.readCompressed(e)
	}
	if err != nil {
		return nil, fmt.Errorf("%w (%w)", errDamaged, err)
	}
	return data, e.check(data)
}

func (i installer) readCompressed(e Entry) ([]byte, error) {
	file, err := i.files.Open(e.Path + ".gz")
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	z, err := gzip.NewReader(file)
	if err != nil {
		return nil, err
	}
	data := bytes.NewBuffer(make([]byte, 0, e.Size+bytes.MinRead))
	_, err = io.Copy(data, io.LimitReader(z, e.Size+1))
	return data.Bytes(), err
}

// check compares bytes with the manifest.
func (e Entry) check(data []byte) error {
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != e.SHA256 {
		return fmt.Errorf("its SHA-256 is %x, the manifest says %s: %w", sum, e.SHA256, errDamaged)
	}
	return nil
}

// place writes a file under another name and moves it into its place, so that a user of the tree sees either the old one or
// the new one.
func place(root *os.Root, e Entry, data []byte) error {
	dir, base := path.Split(e.Path)
	if err := makeFolder(root, path.Clean(dir)); err != nil {
		return err
	}
	tmp := path.Join(dir, "."+base+".new")
	if err := root.RemoveAll(tmp); err != nil {
		return fmt.Errorf("writing %s: %w", e.Path, err)
	}
	if err := root.WriteFile(tmp, data, 0o600); err != nil {
		return fmt.Errorf("writing %s: %w", e.Path, err)
	}
	if err := root.Chmod(tmp, e.Mode); err != nil {
		return fmt.Errorf("writing %s: %w", e.Path, err)
	}
	if err := root.Rename(tmp, e.Path); err != nil {
		return fmt.Errorf("writing %s: %w", e.Path, err)
	}
	return nil
}

// makeFolder makes a folder and those above it, readable by all.
func makeFolder(root *os.Root, dir string) error {
	if dir == "." {
		return nil
	}
	if info, err := root.Lstat(dir); err == nil && info.IsDir() {
		return nil
	}
	if err := makeFolder(root, path.Dir(dir)); err != nil {
		return err
	}
	if err := root.Mkdir(dir, 0o755); err != nil {
		return fmt.Errorf("making a folder of the tree: %w", err)
	}
	if err := root.Chmod(dir, 0o755); err != nil { // whatever the umask is
		return fmt.Errorf("making a folder of the tree: %w", err)
	}
	return nil
}

// recompile makes compiled files anew and takes those that are wrong. The sources are in their places.
func (i installer) recompile(ctx context.Context, root *os.Root, wrong []Entry, p *progress) error {
	stage, err := os.MkdirTemp(i.dir, tmpPrefix)
	if err != nil {
		return fmt.Errorf("making a folder: %w", err)
	}
	defer removeTree(stage) //nolint:errcheck // the next install sweeps what is left
	slices.SortFunc(wrong, func(a, b Entry) int { return cmpPaths(a.source(), b.source()) })
	sources := make([]string, len(wrong))
	for n, e := range wrong {
		sources[n] = e.source()
	}
	next := 0
	done := func() {
		if next < len(wrong) {
			p.add(wrong[next].Size)
			next++
		}
	}
	interpreter := filepath.Join(root.Name(), filepath.FromSlash(i.manifest.Interpreter))
	if err := i.compile(ctx, interpreter, root.Name(), stage, sources, done); err != nil {
		return fmt.Errorf("compiling Python's library: %w", err)
	}
	out, err := os.OpenRoot(stage)
	if err != nil {
		return fmt.Errorf("compiling Python's library: %w", err)
	}
	defer out.Close()
	for _, e := range wrong {
		data, err := out.ReadFile(e.Path)
		if err != nil {
			return fmt.Errorf("compiling Python's library: %w", err)
		}
		if err := e.check(data); err != nil {
			return fmt.Errorf("compiling %s: %w", e.source(), err)
		}
		if err := place(root, e, data); err != nil {
			return err
		}
	}
	return nil
}
