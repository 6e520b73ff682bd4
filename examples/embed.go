// Package examples holds the functions and rules that a newcomer runs. They are part of the program, so that `ostraka demo` works
// from anywhere.
package examples

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// all: because a function's __init__.py would be left out otherwise. What packing leaves out (__pycache__, say) it leaves out of
// the copy as well.
//
//go:embed all:bpsw all:prove all:workflow-bpsw
var folders embed.FS

// ProveSample is a rule: when a bpsw job has finished, prove the sample of its findings prime.
//
//go:embed rules/prove-sample.json
var ProveSample []byte

// Copy writes an example function into a new folder under dir and returns its path, for packing.
func Copy(name, dir string) (string, error) { return write(name, "function.toml", dir) }

// CopyWorkflow writes the folder of an example workflow into a new folder under dir and returns its path, for pushing.
func CopyWorkflow(name, dir string) (string, error) { return write(name, "workflow.toml", dir) }

// write writes out a folder that has such a file.
func write(name, with, dir string) (string, error) {
	source, err := fs.Sub(folders, name)
	if err == nil {
		_, err = fs.Stat(source, with)
	}
	if err != nil {
		return "", fmt.Errorf("finding the example %s: %w", name, err)
	}
	path := filepath.Join(dir, name)
	if err := os.CopyFS(path, source); err != nil {
		return "", fmt.Errorf("writing out the example %s: %w", name, err)
	}
	return path, nil
}
