package python

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// Manifest names every file of an unpacked tree.
type Manifest struct {
	Version     string // of Python, such as 3.14.6
	Interpreter string // path below the tree
	Entries     []Entry
	Digest      string // SHA-256 of the manifest's text
}

// Entry is one file of a tree.
type Entry struct {
	Path   string // below the tree, with slashes
	Mode   fs.FileMode
	Size   int64
	SHA256 string
}

// compiled tells whether Python makes the file from its source.
func (e Entry) compiled() bool { return strings.HasSuffix(e.Path, ".pyc") }

// source is the path of what a compiled file is made from.
func (e Entry) source() string {
	dir, name := path.Split(e.Path)
	stem, _, _ := strings.Cut(name, ".")
	return path.Join(path.Dir(path.Clean(dir)), stem+".py")
}

// parseManifest reads what the generator wrote. The text is part of the
// program, so anything unexpected is a mistake of its makers.
func parseManifest(text string) (Manifest, error) {
	sum := sha256.Sum256([]byte(text))
	m := Manifest{Digest: hex.EncodeToString(sum[:])}
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		fields := strings.SplitN(lines.Text(), " ", 4)
		switch {
		case len(fields) == 2 && fields[0] == "version":
			m.Version = fields[1]
		case len(fields) == 2 && fields[0] == "interpreter":
			m.Interpreter = fields[1]
		case len(fields) == 4:
			e, err := parseEntry(fields)
			if err != nil {
				return Manifest{}, fmt.Errorf("reading the interpreter's manifest: %q: %w", lines.Text(), err)
			}
			m.Entries = append(m.Entries, e)
		default:
			return Manifest{}, fmt.Errorf("reading the interpreter's manifest: %q is no line of a manifest", lines.Text())
		}
	}
	if m.Version == "" || m.Interpreter == "" || len(m.Entries) == 0 {
		return Manifest{}, errors.New("reading the interpreter's manifest: it is not complete")
	}
	return m, nil
}

func parseEntry(fields []string) (Entry, error) {
	mode, err := strconv.ParseUint(fields[1], 8, 9)
	if err != nil {
		return Entry{}, err
	}
	size, err := strconv.ParseInt(fields[2], 10, 64)
	if err != nil {
		return Entry{}, err
	}
	if raw, err := hex.DecodeString(fields[0]); err != nil || len(raw) != sha256.Size {
		return Entry{}, errors.New("no SHA-256")
	}
	if !fs.ValidPath(fields[3]) || fields[3] == "." {
		return Entry{}, errors.New("no path below the tree")
	}
	return Entry{Path: fields[3], Mode: fs.FileMode(mode), Size: size, SHA256: fields[0]}, nil
}
