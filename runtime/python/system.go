package python

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// System describes an interpreter of the machine. It runs it, so it is for one that the machine's owner has named.
func System(ctx context.Context, path string) (Tree, error) {
	t, err := system(ctx, path)
	if err != nil {
		return Tree{}, fmt.Errorf("looking at the interpreter %s: %w", path, err)
	}
	return t, nil
}

func system(ctx context.Context, path string) (Tree, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return Tree{}, err
	}
	facts, err := ask(ctx, path)
	if err != nil {
		return Tree{}, err
	}
	if facts.Minor < MinVersion {
		return Tree{}, fmt.Errorf("it is %s; functions need Python 3.%d or later", facts.Interpreter, MinVersion)
	}
	t := Tree{Interpreter: facts.Executable, Paths: append([]string{facts.Executable}, facts.Library...), Version: facts.Version, Origin: OriginSystem}
	digest := sha256.New()
	var objects []string
	for _, p := range t.Paths {
		found, err := digestLibrary(ctx, digest, p)
		if err != nil {
			return Tree{}, fmt.Errorf("computing its digest: %w", err)
		}
		objects = append(objects, found...)
	}
	t.Digest = hex.EncodeToString(digest.Sum(nil))
	t.Libraries, err = libraries(t.Interpreter, objects...)
	return t, err
}

// digestLibrary feeds the files below a path that decide what a program does, in order of their names, and returns the shared
// objects among them. Packages that somebody installed are left out, as the harness leaves them out (-S), and so are caches.
func digestLibrary(ctx context.Context, into io.Writer, root string) (objects []string, err error) {
	var files []string
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case d.IsDir() && skipped(d.Name()) && path != root:
			return fs.SkipDir
		case d.Type().IsRegular():
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.Sort(files)
	for _, path := range files {
		if strings.HasSuffix(path, ".so") && !strings.HasPrefix(filepath.Base(path), "_tkinter.") {
			objects = append(objects, path)
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return nil, err
		}
		if err := digestFile(into, name, path); err != nil {
			return nil, err
		}
	}
	return objects, nil
}

func skipped(folder string) bool {
	switch folder {
	case "__pycache__", "site-packages", "dist-packages", "test", "tests", "idlelib", "tkinter", "ensurepip":
		return true
	}
	return strings.HasPrefix(folder, "config-")
}

func digestFile(into io.Writer, name, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(into, "%s\x00%d\x00", filepath.ToSlash(name), info.Size()); err != nil {
		return err
	}
	_, err = io.Copy(into, file)
	return err
}
