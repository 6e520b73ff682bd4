package harness

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/inputfile"
)

// errTooMuch marks what breaks a limit rather than a rule.
var errTooMuch = errors.New("over the limit")

// artifacts lists the files under root, which was opened before user code ran.
// The processes of the shard are gone; what lies there is still hostile.
func artifacts(root *os.Root, limits bundle.Limits) ([]File, error) {
	files := []File{}
	left := limits.ArtifactBytes
	err := fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case name == "." && errors.Is(err, fs.ErrNotExist):
			return fs.SkipAll // the function removed the directory
		case err != nil:
			return fmt.Errorf("reading $OSTRAKA_OUTPUT: %w", err)
		case d.IsDir() && len(name) <= MaxArtifactPathBytes: // deeper ones cost more with every step
			return nil
		case !d.Type().IsRegular():
			return fmt.Errorf("%.60q is a link or a special file: leave only regular files under $OSTRAKA_OUTPUT", name)
		case len(name) > MaxArtifactPathBytes:
			return fmt.Errorf("%w: the path %.60q… has %d bytes, at most %d are allowed under $OSTRAKA_OUTPUT", errTooMuch, name, len(name), MaxArtifactPathBytes)
		case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
			return fmt.Errorf("the file name %.60q is not UTF-8 or holds control characters", name)
		case inputfile.CheckName(name) != nil:
			return fmt.Errorf("the file name %.60q under $OSTRAKA_OUTPUT: %w: choose one that every system reads alike", name, inputfile.CheckName(name))
		case int64(len(files)) == limits.Files:
			return fmt.Errorf("%w: more than %d files under $OSTRAKA_OUTPUT: pack them into fewer, or raise limits.files (at most %d)",
				errTooMuch, limits.Files, bundle.MaxLimits().Files)
		}
		f, err := artifact(root, name, left)
		if err != nil {
			return err
		}
		if left -= f.Size; left < 0 {
			return fmt.Errorf("%w: the files under $OSTRAKA_OUTPUT hold more than %d bytes together: raise limits.artifact_bytes", errTooMuch, limits.ArtifactBytes)
		}
		files = append(files, f)
		return nil
	})
	if err != nil {
		return []File{}, err
	}
	return files, nil
}

// artifact hashes one file, reading at most one byte more than what is left.
func artifact(root *os.Root, name string, left int64) (File, error) {
	in, err := root.OpenFile(name, os.O_RDONLY|openSafely, 0)
	if err != nil {
		return File{}, fmt.Errorf("reading $OSTRAKA_OUTPUT: %w", err)
	}
	defer in.Close()
	hash := sha256.New()
	size, err := io.Copy(hash, io.LimitReader(in, left+1))
	if err != nil {
		return File{}, fmt.Errorf("reading $OSTRAKA_OUTPUT: %w", err)
	}
	return File{Path: name, Size: size, Digest: hex.EncodeToString(hash.Sum(nil))}, nil
}
