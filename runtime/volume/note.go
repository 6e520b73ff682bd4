package volume

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
)

// maxNote bounds what is read of a file: some hundred bytes for each of as many files as a volume with a fingerprint may have.
const maxNote = 64 << 20

// note is what is known of a volume, kept in a file of its own so that an agent that starts again need not read the volume.
type note struct {
	Path        string `json:"path"`
	Fingerprint string `json:"fingerprint"`
	Files       Known  `json:"files"`
}

func noteName(name string) string { return name + ".json" }

// noted is what is known of a volume; the zero value where it lay elsewhere.
func (b *Book) noted(v Mapping) note {
	b.mu.Lock()
	n, found := b.notes[v.Name]
	b.mu.Unlock()
	if !found {
		n = readNote(filepath.Join(b.dir, noteName(v.Name)))
	}
	if n.Path != v.Path {
		return note{}
	}
	return n
}

// keep keeps what is known of a volume. What cannot be written is found out again after the next start.
func (b *Book) keep(v Mapping, before, now note) {
	b.mu.Lock()
	b.notes[v.Name] = now
	b.mu.Unlock()
	if before.Path == now.Path && before.Fingerprint == now.Fingerprint && maps.Equal(before.Files, now.Files) {
		return
	}
	text, err := json.Marshal(now)
	if err == nil {
		err = os.MkdirAll(b.dir, 0o700)
	}
	if err == nil {
		err = replaceFile(filepath.Join(b.dir, noteName(v.Name)), text)
	}
	if err != nil {
		b.log.Warn("the fingerprint of a volume cannot be kept", "volume", v.Name, "error", err)
	}
}

// readNote reads a file; the zero value where there is none, or it is damaged.
func readNote(path string) (n note) {
	f, err := os.Open(path)
	if err != nil {
		return note{}
	}
	defer f.Close()
	if json.NewDecoder(io.LimitReader(f, maxNote)).Decode(&n) != nil {
		return note{}
	}
	return n
}

// replaceFile replaces a file that may be read at the moment. A rest that a loss of power leaves is found to be damaged.
func replaceFile(path string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // gone already when all went well
	_, err = f.Write(content)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// Kept is the fingerprint that a book with this folder has taken last of a volume; empty: none. Whether it holds is looked at when it counts.
func Kept(dir string, m Mapping) string {
	n := readNote(filepath.Join(dir, noteName(m.Name)))
	if n.Path != m.Path {
		return ""
	}
	return n.Fingerprint
}
