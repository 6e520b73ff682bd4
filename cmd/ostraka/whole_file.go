package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// writeWholeFile writes a file that is complete under its name, or not there: not even a machine that stops leaves half of one.
func writeWholeFile(name, doing string, write func(io.Writer) error) error {
	part, err := os.CreateTemp(filepath.Dir(name), ".ostraka-*")
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	defer func() { _ = os.Remove(part.Name()) }() // gone already when all went well
	if err := errors.Join(write(part), part.Sync(), part.Close()); err != nil {
		return err
	}
	if err := os.Rename(part.Name(), name); err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}

// checkFileToWrite refuses a name that stands for something else than a file: what is written there would take the place of a link, or
// of a folder.
func checkFileToWrite(name string) error {
	info, err := os.Lstat(name)
	if err != nil {
		if dir, dirErr := os.Stat(filepath.Dir(name)); dirErr != nil || !dir.IsDir() {
			return usageError("--file %s: there is no folder %s", name, filepath.Dir(name))
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return usageError("--file: %w", err)
	}
	if !info.Mode().IsRegular() {
		return usageError("--file %s: that is no regular file: name one, or one that is not there yet", name)
	}
	return nil
}
