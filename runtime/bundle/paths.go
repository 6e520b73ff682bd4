package bundle

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// checkPath refuses a path that would not stay inside the directory it is
// unpacked into, or that some file system would read differently.
func checkPath(p string) error {
	switch {
	case p == "":
		return errors.New("an empty path is not allowed")
	case len(p) > MaxPathBytes:
		return fmt.Errorf("the path %.60q has %d bytes, at most %d are allowed", p, len(p), MaxPathBytes)
	case !utf8.ValidString(p):
		return fmt.Errorf("the path %q is not UTF-8", p)
	case strings.HasPrefix(p, "/"):
		return fmt.Errorf("the path %q is absolute; paths must be relative to the bundle", p)
	case strings.ContainsRune(p, '\\'):
		return fmt.Errorf("the path %q holds a backslash; separate directories with /", p)
	case strings.ContainsFunc(p, unicode.IsControl):
		return fmt.Errorf("the path %q holds a control character", p)
	case p == ".." || strings.HasPrefix(p, "../") || strings.Contains(p, "/../") || strings.HasSuffix(p, "/.."):
		return fmt.Errorf("the path %q leaves the bundle through its .. components", p)
	case path.Clean(p) != p || p == ".":
		return fmt.Errorf("the path %q is not in its shortest form %q", p, path.Clean(p))
	case strings.Count(p, "/") >= MaxPathDepth:
		return fmt.Errorf("the path %.60q has more than %d components", p, MaxPathDepth)
	}
	return nil
}

// tree remembers the paths of a bundle, folded so that names which some file
// system takes for the same collide here, on every system.
type tree struct {
	names map[string]string // folded path -> as first written
	files map[string]bool   // folded paths that are files
	fold  cases.Caser
}

func newTree() *tree {
	return &tree{names: map[string]string{}, files: map[string]bool{}, fold: cases.Fold()}
}

func (t *tree) key(p string) string {
	return norm.NFC.String(t.fold.String(norm.NFKC.String(p)))
}

// add notes a file or a directory, and the directories above it.
func (t *tree) add(p string, file bool) error {
	for up := path.Dir(p); up != "."; up = path.Dir(up) {
		if err := t.directory(up); err != nil {
			return err
		}
	}
	if !file {
		return t.directory(p)
	}
	k := t.key(p)
	if first, ok := t.names[k]; ok {
		return collision(first, p)
	}
	t.names[k], t.files[k] = p, true
	return nil
}

func (t *tree) directory(p string) error {
	k := t.key(p)
	first, ok := t.names[k]
	if ok && (first != p || t.files[k]) {
		return collision(first, p)
	}
	t.names[k] = p
	return nil
}

func collision(first, p string) error {
	if first == p {
		return fmt.Errorf("the path %q stands twice in the bundle", p)
	}
	return fmt.Errorf("the paths %q and %q are the same on some systems: rename one", first, p)
}
