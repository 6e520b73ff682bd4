// Package eula holds the agreement that the owner of an agent accepts before the agent does anything. Agents and servers carry the same
// text; an operator may set another one.
package eula

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// MaxBytes is the longest agreement, in bytes: people read no longer one, and every agent shows it.
	MaxBytes = 64 << 10
	// MaxVersion is the longest name of a version, in characters.
	MaxVersion = 40
	// versionLines is how many lines from the top may hold the version.
	versionLines = 10
)

//go:embed agreement.txt
var embedded []byte

// Document is one version of an agreement. The digest is what is accepted: two texts are never the same because they say so.
type Document struct {
	Version string `json:"version" doc:"As the text names it."`
	Digest  string `json:"digest" doc:"SHA-256 of the text's bytes, in hexadecimal."`
	Text    string `json:"text"`
}

// Embedded is the agreement that this program carries.
func Embedded() Document {
	d, err := Parse(embedded)
	if err != nil {
		panic(fmt.Sprintf("the agreement in this program: %v", err)) // a test reads it
	}
	return d
}

// Load reads an agreement from a file.
func Load(path string) (Document, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Document{}, fmt.Errorf("reading the agreement: %w", err)
	}
	if !info.Mode().IsRegular() || info.Size() > MaxBytes {
		return Document{}, fmt.Errorf("reading the agreement: %s is not a file of at most %d bytes", path, MaxBytes)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return Document{}, fmt.Errorf("reading the agreement: %w", err)
	}
	d, err := Parse(text)
	if err != nil {
		return Document{}, fmt.Errorf("reading the agreement %s: %w", path, err)
	}
	return d, nil
}

var versionLine = regexp.MustCompile(`^Version: ([A-Za-z0-9][A-Za-z0-9._-]*)$`)

// Parse checks a text that others may have written: it is shown on terminals, so that nothing in it may move the cursor or turn the
// direction of writing around.
func Parse(text []byte) (d Document, err error) {
	switch {
	case len(text) == 0:
		return d, errors.New("it is empty")
	case len(text) > MaxBytes:
		return d, fmt.Errorf("it has %d bytes, at most %d are allowed", len(text), MaxBytes)
	case !utf8.Valid(text):
		return d, errors.New("it is not UTF-8")
	}
	for _, r := range string(text) {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
			return d, fmt.Errorf("it holds the control character %U: write plain text with line feeds", r)
		}
	}
	for i, line := range strings.SplitN(string(text), "\n", versionLines+1) {
		if m := versionLine.FindStringSubmatch(line); m != nil && i < versionLines {
			d.Version = m[1]
			break
		}
	}
	if d.Version == "" || len(d.Version) > MaxVersion {
		return Document{}, fmt.Errorf("none of its first %d lines is of the form \"Version: 2026-11\", with at most %d letters, digits, dots and hyphens", versionLines, MaxVersion)
	}
	sum := sha256.Sum256(text)
	d.Digest, d.Text = hex.EncodeToString(sum[:]), string(text)
	return d, nil
}

// Check says whether a document that came over the network is what it says.
func (d Document) Check() error {
	parsed, err := Parse([]byte(d.Text))
	if err != nil {
		return fmt.Errorf("the server's agreement cannot be shown: %w", err)
	}
	if parsed != d {
		return errors.New("the server's agreement is not the text that its version and digest name")
	}
	return nil
}
