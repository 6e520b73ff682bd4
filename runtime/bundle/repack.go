package bundle

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Repack makes of a gzipped tar of a function's files, whichever program packed it, the archive that Pack makes of the same files.
func Repack(r io.Reader) (*Bundle, error) {
	theirs, err := Verify(r, -1)
	if err != nil {
		return nil, err
	}
	var files []source
	err = theirs.Read(func(f File, content []byte) error {
		if !leftOut(f.Path) {
			files = append(files, source{f.Path, content, f.Executable})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("packing the bundle anew: %w", err)
	}
	archive, err := write(files)
	if err != nil {
		return nil, fmt.Errorf("packing the bundle anew: %w", err)
	}
	return Verify(bytes.NewReader(archive), int64(len(archive)))
}

// leftOut says whether Pack would not take a file.
func leftOut(path string) bool {
	return strings.HasSuffix(path, ".pyc") || slices.ContainsFunc(strings.Split(path, "/"), func(part string) bool { return slices.Contains(Skipped(), part) })
}
