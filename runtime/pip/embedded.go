package pip

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	_ "unsafe" // for go:linkname

	_ "github.com/kluctl/go-embed-python/pip" // carries the files
)

// moduleFiles are the files of pip that go-embed-python carries. The module offers only to unpack all of it into a folder that every
// user of the machine shares. Should a later version call the variable something else, this one is empty, and a test fails.
//
//go:linkname moduleFiles github.com/kluctl/go-embed-python/pip/internal/data.Data
var moduleFiles embed.FS

// Version is that of the pip which this program carries.
func Version() (string, error) {
	entries, err := fs.ReadDir(moduleFiles, ".")
	if err != nil {
		return "", fmt.Errorf("looking for pip in this program: %w", err)
	}
	for _, e := range entries {
		version, isPip := strings.CutPrefix(e.Name(), "pip-")
		if version, isInfo := strings.CutSuffix(version, ".dist-info"); isPip && isInfo {
			return version, nil
		}
	}
	return "", errors.New("looking for pip in this program: there is none")
}

// unpack writes pip into dir, an empty folder.
func unpack(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return fs.WalkDir(moduleFiles, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (name == "." || wanted(name)):
			return root.MkdirAll(filepath.FromSlash(name), 0o700)
		case d.IsDir():
			return fs.SkipDir
		case !wanted(name) || path.Ext(name) == ".gz": // programs for Windows, which start a script there
			return nil
		}
		data, err := fs.ReadFile(moduleFiles, name)
		if err != nil {
			return err
		}
		return root.WriteFile(filepath.FromSlash(name), data, 0o600)
	})
}

func wanted(name string) bool {
	top, _, _ := strings.Cut(name, "/")
	return top == "pip" || strings.HasSuffix(top, ".dist-info")
}
