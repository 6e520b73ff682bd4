//go:build linux

package docker

import (
	"archive/tar"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ostraka/ostraka/runtime/linux"
	"github.com/ostraka/ostraka/runtime/python"
)

// supervisorPath is our program in an image.
const supervisorPath = "/ostraka"

// part is one entry of the image's only layer.
type part struct {
	path   string // in the image, absolute
	source string // file on the host; empty: content
	data   []byte
	link   string
	mode   fs.FileMode // with fs.ModeDir for a folder
}

// parts lists all that an image holds, in order of the paths: the same parts
// make the same bytes wherever the image is made.
func parts(tree python.Tree, program string) ([]part, error) {
	described, err := json.Marshal(inImage(tree))
	if err != nil {
		return nil, err
	}
	all := []part{
		{path: treeFile, data: described, mode: 0o444},
		{path: supervisorPath, source: program, mode: 0o555},
	}
	for _, dir := range []string{"/bundle", "/input", "/work", "/tmp", "/dev", "/proc", "/sys", "/etc"} {
		all = append(all, part{path: dir, mode: fs.ModeDir | 0o755})
	}
	files, err := treeParts(tree.Dir)
	if err != nil {
		return nil, err
	}
	all = append(all, files...)
	own, err := python.LibrariesOf(program)
	if err != nil {
		return nil, err
	}
	for _, library := range append(slices.Clone(tree.Libraries), own...) {
		source, err := filepath.EvalSymlinks(library)
		if err != nil {
			return nil, err
		}
		all = append(all, part{path: library, source: source, mode: 0o555})
	}
	return sorted(withFolders(all)), nil
}

// inImage is the interpreter as the image has it.
func inImage(t python.Tree) python.Tree {
	return t.At(linux.ContainerPython)
}

func treeParts(dir string) (all []part, err error) {
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		at := linux.ContainerPython + strings.TrimPrefix(name, dir)
		switch {
		case d.IsDir():
			all = append(all, part{path: at, mode: fs.ModeDir | 0o755})
		case d.Type() == fs.ModeSymlink: // of a runtime, whose links stay inside
			link, err := os.Readlink(name)
			if err != nil {
				return err
			}
			all = append(all, part{path: at, link: link})
		case d.Type().IsRegular():
			info, err := d.Info()
			if err != nil {
				return err
			}
			all = append(all, part{path: at, source: name, mode: info.Mode().Perm()})
		default:
			return fmt.Errorf("%s is neither a file nor a folder nor a link", name)
		}
		return nil
	})
	return all, err
}

// withFolders adds the folders above all others.
func withFolders(all []part) []part {
	have := map[string]bool{"/": true}
	for _, p := range all {
		have[p.path] = true
	}
	for _, p := range all {
		for dir := path.Dir(p.path); !have[dir]; dir = path.Dir(dir) {
			have[dir] = true
			all = append(all, part{path: dir, mode: fs.ModeDir | 0o755})
		}
	}
	return all
}

func sorted(all []part) []part {
	slices.SortStableFunc(all, func(a, b part) int { return strings.Compare(a.path, b.path) })
	return slices.CompactFunc(all, func(a, b part) bool { return a.path == b.path })
}

// writeLayer writes the parts as a tar archive without anything that differs
// between machines and times.
func writeLayer(w io.Writer, all []part) error {
	t := tar.NewWriter(w)
	for _, p := range all {
		if err := writePart(t, p); err != nil {
			return fmt.Errorf("packing %s: %w", p.path, err)
		}
	}
	return t.Close()
}

func writePart(t *tar.Writer, p part) error {
	h := &tar.Header{Name: strings.TrimPrefix(p.path, "/"), Mode: int64(p.mode.Perm()), ModTime: time.Unix(0, 0), Format: tar.FormatPAX}
	switch {
	case p.link != "":
		h.Typeflag, h.Linkname, h.Mode = tar.TypeSymlink, p.link, 0o777
	case p.mode.IsDir():
		h.Typeflag, h.Name = tar.TypeDir, h.Name+"/"
	case p.source == "":
		h.Typeflag, h.Size = tar.TypeReg, int64(len(p.data))
	default:
		return copyPart(t, h, p.source)
	}
	if err := t.WriteHeader(h); err != nil {
		return err
	}
	_, err := t.Write(p.data)
	return err
}

func copyPart(t *tar.Writer, h *tar.Header, source string) error {
	f, err := os.Open(source)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	h.Typeflag, h.Size = tar.TypeReg, info.Size()
	if err := t.WriteHeader(h); err != nil {
		return err
	}
	_, err = io.Copy(t, f)
	return err
}
