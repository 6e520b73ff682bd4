package python

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/gofrs/flock"
)

// Origins of a Tree.
const (
	OriginEmbedded = "embedded" // the interpreter that this program carries
	OriginSystem   = "system"   // one that was on the machine before
)

// UseSystem takes, given as Options.Python, the first python3 on PATH.
const UseSystem = "system"

// ErrNotEmbedded says that this program carries no interpreter.
var ErrNotEmbedded = errors.New("no interpreter in this program")

func errNotEmbedded() error {
	return fmt.Errorf("%w for %s/%s: name one of the machine's with --python PATH, or --python %s", ErrNotEmbedded, runtime.GOOS, runtime.GOARCH, UseSystem)
}

// Tree is an interpreter on disk and everything that it needs to run.
type Tree struct {
	// Dir is the folder that holds the interpreter and its library and nothing
	// else. It is empty for the system's interpreter, which has no such folder.
	Dir string
	// Interpreter is the absolute path of the executable.
	Interpreter string
	// Paths are the folders and files that must be visible, each at the same
	// path, for the interpreter to work: Dir alone, or the system's executable
	// and its library.
	Paths []string
	// Libraries are the files of the host that the dynamic loader opens, itself
	// first: absolute paths as the loader spells them. They may lead over
	// symbolic links (the loader's does on most machines): show what
	// filepath.EvalSymlinks finds under the path that stands here.
	Libraries []string
	// Digest tells trees apart: SHA-256 in hex, of the manifest of the embedded
	// interpreter, or of the system's executable and library.
	Digest string
	// Version is Python's, such as 3.14.6.
	Version string
	// Origin is OriginEmbedded or OriginSystem.
	Origin string
	// Loader is the dynamic loader of a tree that brings its own along, and LibraryPath the folders in which that looks, separated by
	// colons; both below Dir. Such a tree has no Libraries.
	Loader, LibraryPath string
	// Variables are those that its interpreter needs in its environment beside the usual ones, as NAME=value.
	Variables []string
	// Repaired are the files of an unpacked tree that Install had to put right.
	Repaired []string

	hold *flock.Flock // keeps the tree from being swept by a later version of the program
}

// Program is what is to be started, and with which arguments before those of the interpreter.
func (t Tree) Program() (program string, before []string) {
	if t.Loader == "" {
		return t.Interpreter, nil
	}
	return t.Loader, []string{"--inhibit-cache", "--library-path", t.LibraryPath, "--argv0", t.Interpreter, t.Interpreter}
}

// At is a tree with a folder of its own as it is where that folder lies in another place.
func (t Tree) At(dir string) Tree {
	move := func(s string) string { return strings.ReplaceAll(s, t.Dir, dir) }
	moved := t
	moved.Dir, moved.Interpreter, moved.Paths = dir, move(t.Interpreter), []string{dir}
	moved.Loader, moved.LibraryPath = move(t.Loader), move(t.LibraryPath)
	moved.Variables = make([]string, len(t.Variables))
	for i, v := range t.Variables {
		moved.Variables[i] = move(v)
	}
	moved.Repaired, moved.hold = nil, nil
	return moved
}

// Label is how results and the platform record name the tree: its origin and
// enough of its digest to tell it apart.
func (t Tree) Label() string {
	if t.Digest == "" {
		return t.Origin
	}
	return t.Origin + ":" + t.Digest[:16]
}

// Release tells that the tree is not used any more: a later version of the
// program may remove it. The end of the process does the same.
func (t Tree) Release() error {
	if t.hold == nil {
		return nil
	}
	return t.hold.Close()
}

// Options choose an interpreter.
type Options struct {
	// Python is empty for the embedded interpreter, UseSystem, or a path.
	Python string
	// Dir is where the embedded interpreter is unpacked; DefaultDir when empty.
	Dir string
	// Progress, if set, hears how many bytes of how many are in place while a
	// tree is unpacked, which takes some seconds. It is not called otherwise.
	Progress func(done, total int64)
}

// Open gives the interpreter that the options choose.
func Open(ctx context.Context, o Options) (Tree, error) {
	switch o.Python {
	case "":
		return install(ctx, o)
	case UseSystem:
		found, err := exec.LookPath("python3")
		if err != nil {
			return Tree{}, errors.New("no python3 on PATH: leave out --python to use the interpreter that this program carries")
		}
		return System(ctx, found)
	default:
		return System(ctx, o.Python)
	}
}

// Install gives the embedded interpreter, unpacked below dir, verified and put
// right where something was wrong. Several processes may do so at once.
func Install(ctx context.Context, dir string) (Tree, error) {
	return install(ctx, Options{Dir: dir})
}

func install(ctx context.Context, o Options) (t Tree, err error) {
	if o.Dir == "" {
		if o.Dir, err = DefaultDir(); err != nil {
			return Tree{}, err
		}
	}
	if o.Dir, err = filepath.Abs(o.Dir); err != nil {
		return Tree{}, fmt.Errorf("unpacking the interpreter: %w", err)
	}
	from, err := embedded()
	if err != nil {
		return Tree{}, fmt.Errorf("unpacking the interpreter: %w", err)
	}
	t, err = installer{source: from, dir: o.Dir, report: o.Progress}.install(ctx)
	if err != nil {
		return Tree{}, fmt.Errorf("unpacking the interpreter into %s: %w", o.Dir, err)
	}
	if t.Libraries, err = libraries(t.Interpreter); err != nil {
		return Tree{}, errors.Join(fmt.Errorf("looking for the libraries of the interpreter: %w", err), t.Release())
	}
	return t, nil
}
