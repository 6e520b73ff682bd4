package inputfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Limits of what one shard reads.
const (
	// MaxFiles is how many files a shard has at most: each is a request of its own to the server.
	MaxFiles = 256
	// MaxBytes is the size of one file, and of all files of a shard together: agents keep them on their disk while the shard runs.
	MaxBytes = 1 << 30
)

// File is one file of a shard.
type File struct {
	Digest string `json:"digest"` // SHA-256, 64 lower-case hexadecimal digits
	Name   string `json:"name"`
	Path   string `json:"path"` // below $OSTRAKA_INPUT, with slashes
	Size   int64  `json:"size"`
}

// Append adds the JSON form of a file to dst, with sorted keys.
func (f File) Append(dst []byte) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(f); err != nil {
		return dst, fmt.Errorf("encoding a file of a shard: %w", err)
	}
	return append(dst, bytes.TrimSuffix(out.Bytes(), []byte("\n"))...), nil
}

// Parse reads the files that an input lists, and checks them.
func Parse(input []byte) ([]File, error) {
	files, err := parse(input)
	if err == nil {
		err = Check(files)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the files of a shard: %w", err)
	}
	return files, nil
}

func parse(input []byte) (files []File, err error) {
	decoder := json.NewDecoder(bytes.NewReader(input))
	decoder.DisallowUnknownFields()
	if bytes.HasPrefix(bytes.TrimLeft(input, " \t\r\n"), []byte("{")) {
		files = make([]File, 1)
		err = decoder.Decode(&files[0])
	} else {
		err = decoder.Decode(&files)
	}
	if err == nil && decoder.More() {
		err = errors.New("there is more than one value")
	}
	return files, err
}

// Check says why files cannot be those of one shard: one is not acceptable, or two would lie in the same place on some system.
func Check(files []File) error {
	if len(files) == 0 || len(files) > MaxFiles {
		return fmt.Errorf("there are %d files, a shard has 1 to %d", len(files), MaxFiles)
	}
	var total int64
	places := newPlaces()
	for _, f := range files {
		if err := f.check(); err != nil {
			return err
		}
		if total += f.Size; total > MaxBytes {
			return fmt.Errorf("the files of the shard have more than %d bytes together", MaxBytes)
		}
		if err := places.take(f); err != nil {
			return err
		}
	}
	return nil
}

func (f File) check() error {
	if err := CheckName(f.Path); err != nil {
		return fmt.Errorf("the file %.80q: its path: %w", f.Name, err)
	}
	switch {
	case len(f.Digest) != 64 || strings.Trim(f.Digest, "0123456789abcdef") != "":
		return fmt.Errorf("the file %.80q has no digest", f.Name)
	case f.Size < 0 || f.Size > MaxBytes:
		return fmt.Errorf("the file %.80q has %d bytes, at most %d are allowed", f.Name, f.Size, MaxBytes)
	}
	return nil
}

// places knows which paths are taken, folded as the least exact file system would.
type places struct {
	files   map[string]File
	folders map[string]string // folded path -> as first written
	fold    cases.Caser
}

func newPlaces() *places {
	return &places{files: map[string]File{}, folders: map[string]string{}, fold: cases.Fold()}
}

func (p *places) key(path string) string {
	return norm.NFC.String(p.fold.String(norm.NFKC.String(path)))
}

func (p *places) take(f File) error {
	key := p.key(f.Path)
	if other, taken := p.files[key]; taken {
		return collision(other.Path, f.Path)
	}
	if folder, taken := p.folders[key]; taken {
		return collision(folder, f.Path)
	}
	p.files[key] = f
	for i := range len(f.Path) {
		if f.Path[i] != '/' {
			continue
		}
		folder := f.Path[:i]
		key := p.key(folder)
		if other, taken := p.files[key]; taken {
			return collision(other.Path, f.Path)
		}
		if first, taken := p.folders[key]; taken && first != folder {
			return collision(first, folder)
		}
		p.folders[key] = folder
	}
	return nil
}

func collision(a, b string) error {
	if a == b {
		return fmt.Errorf("the path %.80q is taken twice in one shard", a)
	}
	return fmt.Errorf("the paths %.80q and %.80q cannot lie in one folder on every system", a, b)
}
