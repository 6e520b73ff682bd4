package main

import (
	"errors"
	"io/fs"

	"github.com/ostraka/ostraka/runtime/bundle"
)

// packFunction packs the folder or the file of a function, as it was named on the command line.
func packFunction(from string) (*bundle.Bundle, error) {
	b, err := bundle.Pack(from)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, bundle.ErrNoManifest) {
		return nil, &exitError{code: exitUsage, err: err, hint: "give the folder that holds function.toml, or one .py file"}
	}
	return b, err
}
