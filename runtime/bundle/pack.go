package bundle

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// ErrNoManifest is why a folder cannot be packed: it is no function's.
var ErrNoManifest = errors.New("there is no " + ManifestName + ": add one, at least with a line such as name = \"my-function\"")

// Skipped are the names of files and directories that Pack leaves out: they
// belong to tools, not to the function.
func Skipped() []string {
	return []string{".git", ".hg", ".svn", ".venv", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".DS_Store", "__pycache__"}
}

// Modes of packed and unpacked files: bundles are read-only.
const (
	modeFile       = 0o444
	modeExecutable = 0o555
)

// source is one file to pack.
type source struct {
	path       string
	content    []byte
	executable bool
}

// Pack makes a bundle of a folder that holds function.toml, or of one .py file,
// and verifies what it made.
func Pack(from string) (*Bundle, error) {
	b, err := pack(from)
	if err != nil {
		return nil, fmt.Errorf("packing %s: %w", from, err)
	}
	return b, nil
}

func pack(from string) (*Bundle, error) {
	info, err := os.Stat(from)
	if err != nil {
		return nil, err
	}
	var files []source
	switch {
	case info.IsDir():
		files, err = folder(from)
	case info.Mode().IsRegular() && filepath.Ext(from) == ".py":
		files, err = oneFile(from)
	default:
		return nil, errors.New("name a folder with function.toml in it, or one .py file")
	}
	if err != nil {
		return nil, err
	}
	archive, err := write(files)
	if err != nil {
		return nil, err
	}
	return Verify(bytes.NewReader(archive), int64(len(archive)))
}

// folder reads all files under dir through an os.Root, so that a link that
// appears meanwhile leads nowhere.
func folder(dir string) ([]source, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if _, err := root.Stat(ManifestName); errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNoManifest
	}
	p := packer{root: root, left: MaxUnpackedBytes}
	if err := fs.WalkDir(root.FS(), ".", p.visit); err != nil {
		return nil, err
	}
	return p.files, nil
}

type packer struct {
	root  *os.Root
	files []source
	left  int64
}

func (p *packer) visit(name string, d fs.DirEntry, err error) error {
	switch {
	case err != nil:
		return err
	case slices.Contains(Skipped(), d.Name()) || strings.HasSuffix(d.Name(), ".pyc"):
		if d.IsDir() {
			return fs.SkipDir
		}
		return nil
	case d.IsDir():
		return nil
	case !d.Type().IsRegular():
		return fmt.Errorf("%s is a link or a special file: a bundle holds regular files only; copy the file in", name)
	}
	if err := checkPath(name); err != nil {
		return err
	}
	if len(p.files) == MaxFiles {
		return fmt.Errorf("more than %d files: leave out what the function does not import", MaxFiles)
	}
	return p.read(name)
}

func (p *packer) read(name string) error {
	f, err := p.root.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", name)
	}
	content, err := io.ReadAll(io.LimitReader(f, p.left+1))
	if err != nil {
		return err
	}
	if p.left -= int64(len(content)); p.left < 0 {
		return tooLarge()
	}
	p.files = append(p.files, source{name, content, info.Mode()&0o111 != 0})
	return nil
}

func tooLarge() error {
	return fmt.Errorf("the files hold more than %s together: keep data out of the bundle and pass it as input", FormatBytes(MaxUnpackedBytes))
}

// oneFile makes a function of one .py file, named after the file.
func oneFile(file string) ([]source, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, MaxUnpackedBytes+1))
	if err != nil {
		return nil, err
	}
	if len(content) > MaxUnpackedBytes {
		return nil, tooLarge()
	}
	base := filepath.Base(file)
	stem := strings.TrimSuffix(base, ".py")
	entrypoint := stem + ":handler"
	name := strings.ToLower(strings.ReplaceAll(stem, "_", "-"))
	if !namePattern.MatchString(name) || !entrypointPattern.MatchString(entrypoint) {
		return nil, fmt.Errorf("the file name %q gives no function name: use letters, digits and _, or a folder with %s", base, ManifestName)
	}
	manifest := fmt.Sprintf("name = %q\nentrypoint = %q\n", name, entrypoint)
	return []source{{ManifestName, []byte(manifest), false}, {base, content, false}}, nil
}

// write makes the archive: sorted names, no directories, no times, no owners.
func write(files []source) ([]byte, error) {
	slices.SortFunc(files, func(a, b source) int { return strings.Compare(a.path, b.path) })
	var buf bytes.Buffer
	zip, err := gzip.NewWriterLevel(&buf, gzip.BestCompression)
	if err != nil {
		return nil, fmt.Errorf("compressing: %w", err)
	}
	archive := tar.NewWriter(zip)
	for _, f := range files {
		mode := int64(modeFile)
		if f.executable {
			mode = modeExecutable
		}
		h := &tar.Header{Typeflag: tar.TypeReg, Name: path.Clean(f.path), Mode: mode, Size: int64(len(f.content)), ModTime: time.Unix(0, 0)}
		if err := archive.WriteHeader(h); err != nil {
			return nil, fmt.Errorf("writing %s: %w", f.path, err)
		}
		if _, err := archive.Write(f.content); err != nil {
			return nil, fmt.Errorf("writing %s: %w", f.path, err)
		}
	}
	if err := errors.Join(archive.Close(), zip.Close()); err != nil {
		return nil, fmt.Errorf("closing the archive: %w", err)
	}
	return buf.Bytes(), nil
}
