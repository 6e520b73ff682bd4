package bundle

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/ostraka/ostraka/runtime/canonical"
)

// Bundle is an archive that passed every check.
type Bundle struct {
	Manifest      Manifest `json:"manifest"`
	Digest        string   `json:"digest"` // of the archive's bytes
	Size          int64    `json:"size"`   // of the archive
	UnpackedBytes int64    `json:"unpacked_bytes"`
	Files         []File   `json:"files"`

	archive []byte
	module  []byte // of a function in WebAssembly
}

// File is one file of a bundle.
type File struct {
	Path       string `json:"path"`
	Size       int64  `json:"size"`
	Digest     string `json:"digest"`
	Executable bool   `json:"executable,omitempty"`
}

// Archive returns the bytes of the archive. They must not be changed.
func (b *Bundle) Archive() []byte { return b.archive }

// Verify reads an archive of foreign bytes and checks all of it. Size is the
// size that was announced, or -1.
func Verify(r io.Reader, size int64) (*Bundle, error) {
	archive, err := readArchive(r, size)
	if err != nil {
		return nil, fmt.Errorf("checking the bundle: %w", err)
	}
	b := &Bundle{Digest: canonical.Digest(archive), Size: int64(len(archive)), archive: archive}
	if err := b.check(); err != nil {
		return nil, fmt.Errorf("checking the bundle: %w", err)
	}
	return b, nil
}

func readArchive(r io.Reader, size int64) ([]byte, error) {
	if size > MaxArchiveBytes {
		return nil, archiveTooLarge()
	}
	archive, err := io.ReadAll(io.LimitReader(r, MaxArchiveBytes+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading the archive: %w", err)
	case len(archive) > MaxArchiveBytes:
		return nil, archiveTooLarge()
	case size >= 0 && int64(len(archive)) != size:
		return nil, fmt.Errorf("the archive has %d bytes, %d were announced", len(archive), size)
	}
	return archive, nil
}

func archiveTooLarge() error {
	return fmt.Errorf("the archive is larger than %s", FormatBytes(MaxArchiveBytes))
}

func (b *Bundle) check() error {
	seen := newTree()
	var manifest []byte
	modules := map[string][]byte{}
	err := walk(b.archive, func(f File, content []byte) error {
		if err := seen.add(f.Path, true); err != nil {
			return err
		}
		if f.Path == ManifestName {
			manifest = append([]byte{}, content...)
		}
		if path.Ext(f.Path) == ".wasm" {
			modules[f.Path] = content // walk makes a slice for each file
		}
		f.Digest = canonical.Digest(content)
		b.UnpackedBytes += f.Size
		b.Files = append(b.Files, f)
		return nil
	}, func(dir string) error { return seen.add(dir, false) })
	if err != nil {
		return err
	}
	if manifest == nil {
		return fmt.Errorf("there is no %s at the root of the bundle", ManifestName)
	}
	if b.Manifest, err = ParseManifest(manifest); err != nil {
		return err
	}
	if err := b.checkEntry(); err != nil || !b.Manifest.IsWasm() {
		return err
	}
	return b.checkModule(modules[b.Manifest.Entry])
}

func (b *Bundle) checkEntry() error {
	want := b.Manifest.EntryFiles()
	for _, f := range b.Files {
		for _, w := range want {
			if f.Path == w {
				return nil
			}
		}
	}
	return fmt.Errorf("the bundle holds no %s, which %s names as the place to start", strings.Join(want, " and no "), ManifestName)
}

// Read hands out the files of the bundle with their contents, one after the other.
func (b *Bundle) Read(file func(File, []byte) error) error {
	return walk(b.archive, file, func(string) error { return nil })
}

// walk reads the archive once, checking everything that concerns one entry. It
// holds at most one file's content at a time and never reads more than the
// limits allow, whatever the headers claim.
func walk(archive []byte, file func(File, []byte) error, directory func(string) error) error {
	packed := bytes.NewReader(archive)
	zip, err := gzip.NewReader(packed)
	if err != nil {
		return fmt.Errorf("the archive is not gzip: %w", err)
	}
	zip.Multistream(false)
	stream := &io.LimitedReader{R: zip, N: MaxUnpackedBytes + tarOverhead + 1}
	w := walker{tar: tar.NewReader(stream), stream: stream, left: MaxUnpackedBytes, file: file, directory: directory}
	if err := w.all(); err != nil {
		if stream.N <= 0 {
			return tooLarge()
		}
		return err
	}
	return trailing(stream, packed)
}

// trailing refuses data after the end of the tar, where checks would not look.
func trailing(stream *io.LimitedReader, packed *bytes.Reader) error {
	buf := make([]byte, 4096)
	for {
		n, err := stream.Read(buf)
		if len(bytes.Trim(buf[:n], "\x00")) > 0 {
			return errors.New("there is data after the end of the tar archive")
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("unpacking the archive: %w", err)
		}
	}
	if stream.N <= 0 {
		return tooLarge()
	}
	if packed.Len() > 0 {
		return errors.New("there is data after the end of the gzip stream")
	}
	return nil
}

type walker struct {
	tar       *tar.Reader
	stream    *io.LimitedReader
	left      int64
	entries   int
	file      func(File, []byte) error
	directory func(string) error
}

func (w *walker) all() error {
	for {
		h, err := w.tar.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading the tar archive: %w", err)
		}
		if w.entries++; w.entries > MaxFiles {
			return fmt.Errorf("the bundle holds more than %d files", MaxFiles)
		}
		if err := w.entry(h); err != nil {
			return err
		}
	}
}

func (w *walker) entry(h *tar.Header) error {
	switch h.Typeflag {
	case tar.TypeDir:
		dir := strings.TrimSuffix(h.Name, "/")
		if err := checkPath(dir); err != nil {
			return err
		}
		return w.directory(dir)
	case tar.TypeReg:
	default:
		return fmt.Errorf("%q is a link, a device or another special entry: a bundle holds regular files only", h.Name)
	}
	if err := checkPath(h.Name); err != nil {
		return err
	}
	if h.Size < 0 || h.Size > w.left {
		return tooLarge()
	}
	content, err := io.ReadAll(io.LimitReader(w.tar, w.left+1))
	if err != nil {
		return fmt.Errorf("reading %s: %w", h.Name, err)
	}
	if w.left -= int64(len(content)); w.left < 0 {
		return tooLarge()
	}
	f := File{Path: h.Name, Size: int64(len(content)), Executable: h.Mode&0o111 != 0}
	return w.file(f, content)
}
