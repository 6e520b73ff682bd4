package tree

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// checkEntries refuses what would not stay inside the folder that a tree is unpacked into, and what does not run.
func (m *Manifest) checkEntries() error {
	switch {
	case len(m.Entries) > MaxEntries:
		return fmt.Errorf("it has %d files, at most %d are allowed: leave packages out that no function imports", len(m.Entries), MaxEntries)
	case len(m.Libraries) > MaxSearched || len(m.Packages) > MaxSearched:
		return fmt.Errorf("more than %d folders are to be searched", MaxSearched)
	}
	known := newNames()
	last := ""
	for _, e := range m.Entries {
		if err := checkPath(e.Path); err != nil {
			return err
		}
		if e.Path <= last {
			return fmt.Errorf("the paths %q and %q are not in their order", last, e.Path)
		}
		last = e.Path
		if err := known.add(e); err != nil {
			return err
		}
	}
	for _, e := range m.Entries {
		if err := known.checkLink(e); err != nil {
			return err
		}
	}
	return m.checkPlaces(known)
}

// checkPlaces makes sure of the interpreter and of where it looks.
func (m *Manifest) checkPlaces(known names) error {
	for _, program := range []string{m.Interpreter, m.Loader} {
		i, found := slices.BinarySearchFunc(m.Entries, program, func(e Entry, p string) int { return strings.Compare(e.Path, p) })
		if !found || m.Entries[i].Link != "" || !m.Entries[i].Executable {
			return fmt.Errorf("%.80q, which is to be run, is no program of the tree", program)
		}
	}
	for _, dir := range slices.Concat(m.Libraries, m.Packages) {
		if !known.folders[dir] || strings.Contains(dir, ":") {
			return fmt.Errorf("%.80q, which is to be searched, is no folder of the tree", dir)
		}
	}
	return nil
}

// checkPath refuses a path that is not plainly below the tree.
func checkPath(p string) error {
	switch {
	case p == "":
		return errors.New("an empty path is not allowed")
	case len(p) > MaxPathBytes:
		return fmt.Errorf("the path %.60q has %d bytes, at most %d are allowed", p, len(p), MaxPathBytes)
	case !utf8.ValidString(p) || strings.ContainsFunc(p, unicode.IsControl):
		return fmt.Errorf("the path %.80q is not UTF-8, or holds a control character", p)
	case path.IsAbs(p) || path.Clean(p) != p || p == "." || p == ".." || strings.HasPrefix(p, "../"):
		return fmt.Errorf("the path %.80q is not a plain one below the tree", p)
	case strings.Count(p, "/") >= MaxPathDepth:
		return fmt.Errorf("the path %.60q has more than %d components", p, MaxPathDepth)
	}
	return nil
}

// names are the files, links and folders of a tree.
type names struct {
	files, links, folders map[string]bool
}

func newNames() names {
	return names{files: map[string]bool{}, links: map[string]bool{}, folders: map[string]bool{}}
}

// add notes an entry and the folders above it. Nothing lies in a file or in a link.
func (n names) add(e Entry) error {
	for up := path.Dir(e.Path); up != "." && !n.folders[up]; up = path.Dir(up) {
		if n.files[up] || n.links[up] {
			return fmt.Errorf("%q lies in %q, which is no folder", e.Path, up)
		}
		if len(n.folders) >= MaxFolders {
			return fmt.Errorf("it has more than %d folders: leave packages out that no function imports", MaxFolders)
		}
		n.folders[up] = true
	}
	if n.folders[e.Path] {
		return fmt.Errorf("%q is a folder and a file", e.Path)
	}
	if e.Link != "" {
		n.links[e.Path] = true
		return nil
	}
	n.files[e.Path] = true
	return nil
}

// checkLink makes sure that a link leads to a file or a folder of the tree and not over another link: what a path comes to then depends on
// nothing but its text.
func (n names) checkLink(e Entry) error {
	if e.Link == "" {
		return nil
	}
	rest := e.Link
	for strings.HasPrefix(rest, "../") { // it climbs at its beginning only
		rest = rest[len("../"):]
	}
	plain := len(e.Link) <= MaxPathBytes && checkPath(rest) == nil
	to := path.Join(path.Dir(e.Path), e.Link)
	switch {
	case e.Size != 0 || e.Executable:
		return fmt.Errorf("the link %q has what only files have", e.Path)
	case !plain || path.IsAbs(e.Link) || to == ".." || strings.HasPrefix(to, "../"):
		return fmt.Errorf("the link %q leads to %.80q, which is not plainly below the tree", e.Path, e.Link)
	case !n.files[to] && !n.folders[to]:
		return fmt.Errorf("the link %q leads to %.80q, which is no file or folder of the tree", e.Path, e.Link)
	}
	return nil
}
