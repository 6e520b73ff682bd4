// Package inputdirtest makes input files for tests.
package inputdirtest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ostraka/ostraka/runtime/inputdir"
	"github.com/ostraka/ostraka/runtime/inputfile"
)

// Files are the files with these contents by path, in the order of their paths.
func Files(contents map[string]string) (files []inputfile.File) {
	for path, text := range contents {
		sum := sha256.Sum256([]byte(text))
		files = append(files, inputfile.File{Digest: hex.EncodeToString(sum[:]), Name: path, Path: path, Size: int64(len(text))})
	}
	slices.SortFunc(files, func(a, b inputfile.File) int { return strings.Compare(a.Path, b.Path) })
	return files
}

// Open hands out contents by path.
func Open(contents map[string]string) inputdir.Open {
	return func(_ context.Context, f inputfile.File) (io.ReadCloser, error) {
		text, found := contents[f.Path]
		if !found {
			return nil, fmt.Errorf("there is no file %q", f.Path)
		}
		return io.NopCloser(strings.NewReader(text)), nil
	}
}
