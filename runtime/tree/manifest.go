package tree

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"regexp"

	"github.com/ostraka/ostraka/runtime/canonical"
)

// Format is the version of manifests.
const Format = 1

// Platform is the one on which runtimes run so far.
const Platform = "linux/amd64"

// Manifest lists what a tree holds. Paths are relative to it and have slashes.
type Manifest struct {
	Format   int    `json:"format"`
	Platform string `json:"platform"` // GOOS/GOARCH
	Python   string `json:"python"`   // the version, such as 3.11.2: a claim about the interpreter, which was not asked
	// Interpreter is the program, Loader the dynamic loader that starts it, Libraries are the folders in which that looks, Packages those
	// in which Python looks beside its own library.
	Interpreter string   `json:"interpreter"`
	Loader      string   `json:"loader"`
	Libraries   []string `json:"libraries"`
	Packages    []string `json:"packages"`
	Entries     []Entry  `json:"entries"` // by path
	Pieces      []Piece  `json:"pieces"`  // the contents of all files, in the order of the entries
}

// Entry is a file or a link.
type Entry struct {
	Path       string `json:"path"`
	Size       int64  `json:"size,omitempty"`
	Executable bool   `json:"executable,omitempty"`
	Link       string `json:"link,omitempty"` // what a link leads to, relative to its folder; empty: it is a file
}

// Piece is a part of the contents.
type Piece struct {
	Digest string `json:"digest"`
	Size   int64  `json:"size"`
}

// Bytes is the size of all files.
func (m *Manifest) Bytes() (n int64) {
	for _, e := range m.Entries {
		n += e.Size
	}
	return n
}

// diskBytes is what an unpacked tree takes on a disk: files, links and folders take room whatever they hold.
func (m *Manifest) diskBytes() int64 {
	folders := map[string]bool{}
	for _, e := range m.Entries {
		for up := path.Dir(e.Path); up != "." && !folders[up]; up = path.Dir(up) {
			folders[up] = true
		}
	}
	return m.Bytes() + blockBytes*int64(len(m.Entries)+len(folders))
}

// Encode gives the bytes of a manifest, from which its digest is made.
func (m *Manifest) Encode() ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(m); err != nil {
		return nil, fmt.Errorf("encoding a runtime's manifest: %w", err)
	}
	return out.Bytes(), nil
}

// DigestOf is the SHA-256 of some bytes in hexadecimal.
func DigestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Parse checks a manifest of foreign bytes. What it accepts encodes to the same bytes, so that a tree has one digest.
func Parse(data []byte) (m Manifest, err error) {
	if len(data) > MaxManifestBytes {
		return m, fmt.Errorf("a runtime's manifest has more than %d bytes", MaxManifestBytes)
	}
	if err := decode(data, &m); err != nil {
		return Manifest{}, fmt.Errorf("reading a runtime's manifest: %w", err)
	}
	if err := m.check(); err != nil {
		return Manifest{}, fmt.Errorf("checking a runtime's manifest: %w", err)
	}
	again, err := m.Encode()
	if err != nil {
		return Manifest{}, err
	}
	if !bytes.Equal(again, data) {
		return Manifest{}, errors.New("checking a runtime's manifest: it is not written as a manifest is: make it with `ostraka runtime import`")
	}
	return m, nil
}

var versionPattern = regexp.MustCompile(`^3\.[0-9]{1,3}(\.[0-9]{1,3})?$`)

// minMinor is the oldest minor version of Python 3 that the harness runs on; package python has it too.
const minMinor = 9

func (m *Manifest) check() error {
	switch {
	case m.Format != Format:
		return fmt.Errorf("format %d: this program knows format %d", m.Format, Format)
	case m.Platform != Platform:
		return fmt.Errorf("platform %.40q: runtimes are for %s so far", m.Platform, Platform)
	case !versionPattern.MatchString(m.Python) || minorOf(m.Python) < minMinor:
		return fmt.Errorf("its Python is %.20q: 3.%d or later is needed", m.Python, minMinor)
	}
	if err := m.checkPieces(); err != nil {
		return err
	}
	return m.checkEntries()
}

func minorOf(version string) (minor int) {
	if _, err := fmt.Sscanf(version, "3.%d", &minor); err != nil {
		return 0
	}
	return minor
}

// checkPieces makes sure that the pieces hold as much as the files do.
func (m *Manifest) checkPieces() error {
	if len(m.Pieces) > MaxPieces {
		return fmt.Errorf("it has %d pieces, at most %d are allowed", len(m.Pieces), MaxPieces)
	}
	var in, of int64
	for i, p := range m.Pieces {
		if !canonical.IsDigest(p.Digest) {
			return fmt.Errorf("piece %d: %.80q is no digest", i, p.Digest)
		}
		if p.Size < 1 || p.Size > MaxPieceBytes {
			return fmt.Errorf("piece %d has %d bytes: 1 to %d are allowed", i, p.Size, MaxPieceBytes)
		}
		in += p.Size
	}
	for _, e := range m.Entries {
		if e.Size < 0 || e.Size > MaxTreeBytes {
			return fmt.Errorf("%.80q has %d bytes: at most %d are allowed", e.Path, e.Size, MaxTreeBytes)
		}
		if of += e.Size; of > MaxTreeBytes {
			return fmt.Errorf("the files have more than %d bytes", MaxTreeBytes)
		}
	}
	if in != of {
		return fmt.Errorf("the pieces have %d bytes and the files %d", in, of)
	}
	return nil
}
