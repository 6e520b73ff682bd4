package python

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"runtime"
)

// findings is what is wrong with a tree.
type findings struct {
	wrong []Entry  // missing, or not as the manifest has them
	extra []string // what the manifest does not have
}

// paths names all findings.
func (f findings) paths() (names []string) {
	for _, e := range f.wrong {
		names = append(names, e.Path)
	}
	return append(names, f.extra...)
}

// inspect compares every file below root with the manifest. It follows no symbolic links: one is always too much.
func (m Manifest) inspect(ctx context.Context, root *os.Root) (f findings, err error) {
	folders := map[string]bool{".": true}
	for _, e := range m.Entries {
		for dir := path.Dir(e.Path); dir != "."; dir = path.Dir(dir) {
			folders[dir] = true
		}
	}
	present := map[string]bool{}
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case d.IsDir() && folders[name]:
			return nil
		case d.IsDir():
			f.extra = append(f.extra, name)
			return fs.SkipDir
		case d.Type().IsRegular():
			present[name] = true
		default:
			f.extra = append(f.extra, name)
		}
		return nil
	})
	if err != nil {
		return f, fmt.Errorf("comparing the tree with its manifest: %w", err)
	}
	for _, e := range m.Entries {
		same := present[e.Path]
		delete(present, e.Path)
		if same {
			if same, err = e.matches(root); err != nil {
				return f, fmt.Errorf("comparing the tree with its manifest: %w", err)
			}
		}
		if !same {
			f.wrong = append(f.wrong, e)
		}
		if ctx.Err() != nil {
			return f, context.Cause(ctx)
		}
	}
	for name := range present {
		f.extra = append(f.extra, name)
	}
	return f, nil
}

// matches tells whether the file below root is the manifest's.
func (e Entry) matches(root *os.Root) (bool, error) {
	info, err := root.Lstat(e.Path)
	if err != nil {
		return false, err
	}
	if info.Size() != e.Size || runtime.GOOS != "windows" && info.Mode() != e.Mode {
		return false, nil
	}
	file, err := root.Open(e.Path)
	if err != nil {
		return false, err
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return false, err
	}
	return hex.EncodeToString(sum.Sum(nil)) == e.SHA256, nil
}
