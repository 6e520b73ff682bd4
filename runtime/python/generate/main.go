// Command generate writes the manifests of the interpreters that go-embed-python
// carries: which of their files an unpacked tree keeps, and the SHA-256 of each.
// It runs on linux/amd64, because it compiles the libraries of all platforms
// with the interpreter of that one: bytecode depends on the version of Python
// and the source only.
package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

const module = "github.com/kluctl/go-embed-python"

// host is the platform whose interpreter compiles for all.
const host = "linux-amd64"

var platforms = []string{host, "linux-arm64", "darwin-amd64", "darwin-arm64", "windows-amd64"}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1) //nolint:forbidigo // this is main
	}
}

func run() error {
	if here := runtime.GOOS + "-" + runtime.GOARCH; here != host {
		fmt.Fprintf(os.Stderr, "generate: the manifests of Python are made on %s; on %s they are left as they are\n", host, here)
		return nil
	}
	data, err := dataDir()
	if err != nil {
		return err
	}
	version, err := readVersion(filepath.Join(data, "PYTHON_VERSION"))
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "ostraka-generate-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }() // it is in the system's folder for what may be lost
	for _, name := range platforms {
		p := platform{name: name, embedded: filepath.Join(data, name), tree: filepath.Join(work, name), host: filepath.Join(work, host, "bin", "python3.14"), version: version}
		if err := p.write(filepath.Join("manifests", name+".txt")); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// dataDir is where the module's files lie. Its version is that of go.mod.
func dataDir() (string, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		return "", fmt.Errorf("finding %s: %w", module, err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), "python", "internal", "data"), nil
}

func readVersion(name string) (string, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(text)) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), "PYTHON_VERSION="); ok {
			return strings.Trim(v, `"`), nil
		}
	}
	return "", fmt.Errorf("%s names no version", name)
}

type platform struct{ name, embedded, tree, host, version string }

type entry struct {
	path string
	mode fs.FileMode
	data []byte
}

func (p platform) write(manifest string) error {
	entries, err := p.files()
	if err != nil {
		return err
	}
	compiled, err := p.compile(entries)
	if err != nil {
		return err
	}
	entries = append(entries, compiled...)
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.path, b.path) })
	interpreter := "bin/python3.14"
	if p.windows() {
		interpreter = "python.exe"
	}
	var text bytes.Buffer
	fmt.Fprintf(&text, "version %s\ninterpreter %s\n", p.version, interpreter)
	for _, e := range entries {
		sum := sha256.Sum256(e.data)
		fmt.Fprintf(&text, "%s %o %d %s\n", hex.EncodeToString(sum[:]), e.mode, len(e.data), e.path)
	}
	return os.WriteFile(manifest, text.Bytes(), 0o644)
}

func (p platform) windows() bool { return strings.HasPrefix(p.name, "windows") }

// files are those that the tree keeps, laid out below p.tree as well.
func (p platform) files() (entries []entry, err error) {
	text, err := os.ReadFile(filepath.Join(p.embedded, "files.json"))
	if err != nil {
		return nil, err
	}
	var list struct {
		Files []struct {
			Name       string      `json:"name"`
			Mode       fs.FileMode `json:"perm"`
			Compressed bool        `json:"compressed"`
		} `json:"files"`
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, err
	}
	for _, f := range list.Files {
		name := filepath.ToSlash(strings.ReplaceAll(f.Name, `\`, "/"))
		if !f.Mode.IsRegular() || !p.keep(name) {
			continue
		}
		e := entry{path: name, mode: 0o444}
		if f.Mode.Perm()&0o111 != 0 && (strings.HasPrefix(name, "bin/") || strings.HasSuffix(name, ".exe")) {
			e.mode = 0o555
		}
		if e.data, err = p.read(name, f.Compressed); err != nil {
			return nil, err
		}
		if err := p.lay(e); err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return entries, nil
}

func (p platform) read(name string, compressed bool) ([]byte, error) {
	if !compressed {
		return os.ReadFile(filepath.Join(p.embedded, name))
	}
	f, err := os.Open(filepath.Join(p.embedded, name+".gz"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

func (p platform) lay(e entry) error {
	to := filepath.Join(p.tree, e.path)
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	return os.WriteFile(to, e.data, e.mode|0o200)
}

// keep prunes what a function has no use for: windows and their toolkits,
// installers, test modules, headers, and a second copy of the interpreter.
func (p platform) keep(name string) bool {
	library, isLibrary := strings.CutPrefix(name, "lib/python3.14/")
	if p.windows() {
		library, isLibrary = strings.CutPrefix(name, "Lib/")
	}
	if isLibrary {
		return keepLibrary(library)
	}
	dir, base := path.Split(name)
	switch {
	case p.windows() && dir == "": // python.exe, its DLLs and the licence
		return strings.HasSuffix(base, ".dll") || base == "python.exe" || base == "LICENSE.txt"
	case dir == "DLLs/":
		return keepExtension(base) && !strings.HasPrefix(base, "tcl") && !strings.HasPrefix(base, "tk") && base != "winsound.pyd"
	default:
		return name == "bin/python3.14"
	}
}

func keepLibrary(name string) bool {
	first, rest, _ := strings.Cut(name, "/")
	switch first {
	case "tkinter", "idlelib", "turtledemo", "turtle.py", "test", "ensurepip", "venv", "site-packages", "__phello__", "__hello__.py", "lib2to3", "pydoc_data":
		return false
	case "lib-dynload":
		return keepExtension(rest)
	}
	return !strings.HasPrefix(first, "config-") && !strings.Contains(name, "/test/") && !strings.Contains(name, "/tests/")
}

func keepExtension(base string) bool {
	stem, _, _ := strings.Cut(base, ".")
	return !strings.HasPrefix(stem, "_test") && stem != "_ctypes_test" && stem != "_tkinter" && stem != "xxlimited" && stem != "xxlimited_35" && stem != "xxsubtype"
}

// compile lets the host's interpreter compile the sources twice, in folders of
// different names, and insists that the results agree.
func (p platform) compile(entries []entry) ([]entry, error) {
	var sources []string
	for _, e := range entries {
		if strings.HasSuffix(e.path, ".py") {
			sources = append(sources, e.path)
		}
	}
	slices.Sort(sources)
	first, err := p.compileInto(p.tree+"-a", sources)
	if err != nil {
		return nil, err
	}
	second, err := p.compileInto(p.tree+"-longer-b", sources)
	if err != nil {
		return nil, err
	}
	for i := range first {
		if first[i].path != second[i].path || !bytes.Equal(first[i].data, second[i].data) {
			return nil, errors.New("compiling " + first[i].path + " twice gives different bytes")
		}
	}
	return first, nil
}

func (p platform) compileInto(out string, sources []string) (entries []entry, err error) {
	script, err := filepath.Abs("compile.py")
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(p.host, "-I", "-S", "-B", "-X", "utf8", "-W", "ignore", script, p.tree, out)
	cmd.Stdin, cmd.Stderr, cmd.Env = strings.NewReader(strings.Join(sources, "\n")+"\n"), os.Stderr, []string{}
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("compiling: %w", err)
	}
	err = filepath.WalkDir(out, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(name) //nolint:gosec // a folder that we have just made
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(out, name)
		entries = append(entries, entry{path: filepath.ToSlash(rel), mode: 0o444, data: data})
		return err
	})
	return entries, err
}
