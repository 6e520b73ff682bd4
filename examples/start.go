package examples

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// starts are functions to begin with, one for each language: they say NAME where their own name is to stand.
//
//go:embed start
var starts embed.FS

// StartLanguages are those in which there is a function to begin with.
func StartLanguages() []string { return []string{"assemblyscript", "c", "go", "python", "rust"} }

// startSuffix keeps a file from meaning something here that it means where it is copied to, such as go.mod.
const startSuffix = ".start"

// Start writes a function to begin with into a new folder, under a name, and says which files there are.
func Start(language, name, dir string) (files []string, err error) {
	from := "start/" + language
	entries, err := fs.ReadDir(starts, from)
	if err != nil {
		return nil, fmt.Errorf("finding a function in %s: %w", language, err)
	}
	if err := os.Mkdir(dir, 0o777); err != nil { //nolint:gosec // a folder of the user's, as mkdir makes one
		return nil, fmt.Errorf("making the folder of the function: %w", err)
	}
	for _, e := range entries {
		text, err := fs.ReadFile(starts, from+"/"+e.Name())
		if err != nil {
			return nil, err
		}
		file := strings.TrimSuffix(e.Name(), startSuffix)
		mode := fs.FileMode(0o666)
		if strings.HasSuffix(file, ".sh") {
			mode = 0o777
		}
		if file == "function.toml" || file == "go.mod" {
			text = []byte(strings.ReplaceAll(string(text), "NAME", name))
		}
		if err := os.WriteFile(filepath.Join(dir, file), text, mode); err != nil {
			return nil, fmt.Errorf("writing the function: %w", err)
		}
		files = append(files, file)
	}
	return files, nil
}
