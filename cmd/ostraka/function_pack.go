package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ostraka/ostraka/runtime/bundle"
)

// packFunction packs the folder or the file of a function, as it was named on the command line.
func packFunction(from string) (*bundle.Bundle, error) {
	if manifest := filepath.Join(filepath.Dir(from), bundle.ManifestName); filepath.Ext(from) == ".py" && isFile(manifest) {
		return nil, &exitError{
			code: exitUsage, err: fmt.Errorf("%s is a part of the function in its folder, which has a %s", from, bundle.ManifestName),
			hint: "give the folder: " + filepath.Dir(from),
		}
	}
	b, err := bundle.Pack(from)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, bundle.ErrNoManifest) {
		return nil, &exitError{code: exitUsage, err: err, hint: "give the folder that holds function.toml, or one .py file"}
	}
	return b, err
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}
