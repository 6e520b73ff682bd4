package tree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Where things lie in a tree that Collect makes. Python finds its own library beside its program.
const (
	binDir    = "bin"
	nativeDir = "lib/native"
)

// Source is a root file system, and what is wanted of it.
type Source struct {
	Root     string   // the folder that its absolute paths begin at
	Python   string   // the interpreter in it, such as /usr/bin/python3
	Packages []string // what can be imported, such as numpy; empty: all that lies in its folders of packages
	Site     string   // a folder of packages besides the interpreter's own, which it goes before; empty: there is none
}

// Collected is what Collect has made of it.
type Collected struct {
	About Manifest // but for the entries and the pieces
	// Sources are the files of Python's own library and of packages that can be compiled.
	Sources []string
}

var programPattern = regexp.MustCompile(`^python3\.([0-9]{1,3})$`)

// Collect copies an interpreter, its library, packages and all shared libraries that these need into dst, an empty folder.
func Collect(ctx context.Context, from Source, dst string) (Collected, error) {
	root, err := filepath.Abs(from.Root)
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err != nil {
		return Collected{}, fmt.Errorf("collecting a runtime: %w", err)
	}
	c := &collector{ctx: ctx, root: root, dst: dst, site: from.Site, origin: map[string]string{}}
	found, err := c.collect(from)
	if err != nil {
		return Collected{}, fmt.Errorf("collecting a runtime from %s: %w", from.Root, err)
	}
	return found, nil
}

type collector struct {
	ctx    context.Context //nolint:containedctx // of one Collect
	root   string
	dst    string
	site   string            // of the source
	minor  string            // such as 3.11
	origin map[string]string // of each file in the tree: its path in the root
}

func (c *collector) collect(from Source) (found Collected, err error) {
	program, err := c.resolve(from.Python)
	if err != nil {
		return found, err
	}
	match := programPattern.FindStringSubmatch(path.Base(program))
	if match == nil {
		return found, fmt.Errorf("%s leads to %s, and a program named python3.N is needed: name it with --python", from.Python, program)
	}
	c.minor = "3." + match[1]
	interpreter := path.Join(binDir, "python"+c.minor)
	if err := c.copy(program, interpreter); err != nil {
		return found, err
	}
	prefix := path.Dir(path.Dir(program))
	library := path.Join("lib", "python"+c.minor)
	real, err := c.resolve(path.Join(prefix, library))
	if err != nil {
		return found, err
	}
	if err := c.copyFolder(real, library, skippedOfLibrary); err != nil {
		return found, err
	}
	packages := path.Join(library, "site-packages")
	if err := c.copyPackages(prefix, packages, from.Packages); err != nil {
		return found, err
	}
	loader, err := c.copyLibraries(program)
	if err != nil {
		return found, err
	}
	found.About = Manifest{
		Platform: Platform, Python: c.minor, Interpreter: interpreter, Loader: loader, Libraries: []string{nativeDir}, Packages: []string{packages},
	}
	for name := range c.origin {
		if strings.HasSuffix(name, ".py") {
			found.Sources = append(found.Sources, name)
		}
	}
	slices.Sort(found.Sources)
	return found, nil
}

// resolve follows the links of a path as a process would see them whose root is c.root.
func (c *collector) resolve(p string) (string, error) {
	left, at := strings.Split(path.Clean("/" + p)[1:], "/"), "/"
	for links := 0; len(left) > 0; {
		next := path.Join(at, left[0])
		left = left[1:]
		info, err := os.Lstat(c.host(next))
		if err != nil {
			return "", fmt.Errorf("looking for %s: %w", p, err)
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			at = next
			continue
		}
		if links++; links > 40 {
			return "", fmt.Errorf("looking for %s: too many links", p)
		}
		to, err := os.Readlink(c.host(next))
		if err != nil {
			return "", err
		}
		if !path.IsAbs(to) {
			to = path.Join(at, to)
		}
		left, at = append(strings.Split(path.Clean(to)[1:], "/"), left...), "/"
		if left[0] == "" {
			left = left[1:]
		}
	}
	return at, nil
}

func (c *collector) host(p string) string { return filepath.Join(c.root, filepath.FromSlash(p)) }

// copy copies one file of the root, over links, to a place in the tree.
func (c *collector) copy(from, to string) error {
	if c.ctx.Err() != nil {
		return context.Cause(c.ctx)
	}
	real, err := c.resolve(from)
	if err != nil {
		return err
	}
	if other, there := c.origin[to]; there {
		if other == real {
			return nil
		}
		return fmt.Errorf("%s and %s would both be %s: leave one out with --package", other, real, to)
	}
	if len(c.origin) >= MaxEntries {
		return fmt.Errorf("more than %d files: name what you need with --package", MaxEntries)
	}
	in, err := os.Open(c.host(real))
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is no regular file", real)
	}
	at := filepath.Join(c.dst, filepath.FromSlash(to))
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return err
	}
	out, err := os.OpenFile(at, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600|info.Mode().Perm()&0o111)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	c.origin[to] = real
	return errors.Join(err, out.Close())
}

// copyFolder copies what lies below a folder of the root, but for names that are skipped at its top.
func (c *collector) copyFolder(from, to string, skip func(name string) bool) error {
	entries, err := os.ReadDir(c.host(from))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if skip(e.Name()) {
			continue
		}
		if err := c.copyEntry(from, to, e); err != nil {
			return err
		}
	}
	return nil
}

// copyEntry copies a file or a folder. Links to files become files; what Python has compiled for itself is made again.
func (c *collector) copyEntry(from, to string, e fs.DirEntry) error {
	name := path.Join(from, e.Name())
	if e.Name() == "__pycache__" || strings.HasSuffix(e.Name(), ".pyc") {
		return nil
	}
	source, err := c.resolve(name)
	if err != nil {
		return fmt.Errorf("%w: the link %s leads nowhere", err, name)
	}
	info, err := os.Stat(c.host(source))
	switch {
	case err != nil:
		return err
	case info.IsDir() && e.Type()&fs.ModeSymlink != 0:
		return fmt.Errorf("%s is a link to a folder: name what you need with --package", name)
	case info.IsDir():
		return c.copyFolder(source, path.Join(to, e.Name()), func(string) bool { return false })
	}
	return c.copy(source, path.Join(to, e.Name()))
}

// skippedOfLibrary are folders of Python's library that no function imports, and the packages below it, which come by themselves.
func skippedOfLibrary(name string) bool {
	switch name {
	case "site-packages", "dist-packages", "test", "tests", "idlelib", "tkinter", "turtledemo", "ensurepip", "EXTERNALLY-MANAGED":
		return true
	}
	return strings.HasPrefix(name, "config-") || strings.HasPrefix(name, "_tkinter.")
}

// packageFolders are where packages lie: those of Debian and of everybody else below the interpreter's prefix.
func (c *collector) packageFolders(prefix string) []string {
	folders := []string{
		"local/lib/python" + c.minor + "/dist-packages", "lib/python3/dist-packages", "lib/python" + c.minor + "/dist-packages", "lib/python" + c.minor + "/site-packages",
	}
	for i, folder := range folders {
		folders[i] = path.Join(prefix, folder)
	}
	if c.site != "" {
		folders = slices.Insert(folders, 0, c.site)
	}
	return folders
}

// copyPackages copies what can be imported. What lies in two folders comes from the first, as an import would have it.
func (c *collector) copyPackages(prefix, to string, wanted []string) error {
	missing, taken := slices.Clone(wanted), map[string]bool{}
	for _, folder := range c.packageFolders(prefix) {
		real, err := c.resolve(folder)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		entries, err := os.ReadDir(c.host(real))
		if err != nil {
			return err
		}
		for _, e := range entries {
			of := slices.IndexFunc(wanted, func(w string) bool { return belongs(e.Name(), w) })
			if taken[e.Name()] || len(wanted) > 0 && of < 0 {
				continue
			}
			taken[e.Name()] = true
			if of >= 0 {
				missing = slices.DeleteFunc(missing, func(w string) bool { return w == wanted[of] })
			}
			if err := c.copyEntry(real, to, e); err != nil {
				return err
			}
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("there is no package %s below %s: install it, or name another root", strings.Join(missing, ", "), prefix)
	}
	return os.MkdirAll(filepath.Join(c.dst, filepath.FromSlash(to)), 0o755)
}

// belongs says whether something in a folder of packages is part of a package: its folder or file, its metadata, its own libraries.
func belongs(name, wanted string) bool {
	if base, _, _ := strings.Cut(name, "."); base == wanted { // numpy, numpy.py, numpy.libs, numpy.cpython-311-x86_64-linux-gnu.so
		return true
	}
	distribution, _, _ := strings.Cut(name, "-") // numpy-1.24.2.egg-info, numpy-2.1.0.dist-info
	return strings.EqualFold(distribution, wanted) && (strings.HasSuffix(name, ".egg-info") || strings.HasSuffix(name, ".dist-info"))
}
