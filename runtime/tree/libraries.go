package tree

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ostraka/ostraka/runtime/python"
)

// maxLibraries is how many shared libraries a tree may need of its root: a bound for a search, above what is real.
const maxLibraries = 500

// wantedAnyway are libraries that programs open by name when they need them: threads that are ended want the first.
var wantedAnyway = []string{"libgcc_s.so.1"}

// copyLibraries copies what the dynamic loader opens for everything in the tree, and says where the loader itself lies.
func (c *collector) copyLibraries(program string) (loader string, err error) {
	file, err := elf.Open(c.host(program))
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", program, err)
	}
	defer func() { _ = file.Close() }() // it was only read
	if file.Machine != elf.EM_X86_64 {
		return "", fmt.Errorf("%s is for %s: runtimes are for %s so far", program, file.Machine, Platform)
	}
	named, err := python.LoaderOf(file)
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", program, err)
	}
	if named == "" {
		return "", fmt.Errorf("%s is a static program, which loads no packages with native code: name another with --python", program)
	}
	loader = path.Join(nativeDir, path.Base(named))
	if err := c.copy(named, loader); err != nil {
		return "", err
	}
	todo, err := c.objects()
	if err != nil {
		return "", err
	}
	have := map[string]bool{path.Base(named): true}
	for n := 0; n < len(todo); n++ {
		found, err := c.neededBy(todo[n], have)
		if err != nil {
			return "", err
		}
		if todo = append(todo, found...); len(have) > maxLibraries {
			return "", fmt.Errorf("it needs more than %d shared libraries", maxLibraries)
		}
	}
	for _, name := range wantedAnyway {
		if from, found := c.find(c.loaderDirs(), name); found && !have[name] {
			err = errors.Join(err, c.copy(from, path.Join(nativeDir, name)))
		}
	}
	return loader, err
}

// objects are the programs and shared objects of the tree, by their paths in the root.
func (c *collector) objects() (list []string, err error) {
	for name, from := range c.origin {
		if strings.HasSuffix(name, ".py") || path.Dir(name) == nativeDir {
			continue
		}
		isObject, err := isELF(filepath.Join(c.dst, filepath.FromSlash(name)))
		if err != nil {
			return nil, err
		}
		if isObject {
			list = append(list, from)
		}
	}
	slices.Sort(list)
	return list, nil
}

func isELF(name string) (bool, error) {
	file, err := os.Open(name)
	if err != nil {
		return false, err
	}
	defer file.Close()
	magic := make([]byte, len(elf.ELFMAG))
	n, _ := file.Read(magic) // an empty file is none
	return bytes.Equal(magic[:n], []byte(elf.ELFMAG)), nil
}

// neededBy copies the libraries that an object names and that the tree does not have, and gives their paths in the root.
func (c *collector) neededBy(object string, have map[string]bool) (found []string, err error) {
	file, err := elf.Open(c.host(object))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", object, err)
	}
	defer func() { _ = file.Close() }() // it was only read
	needed, err := file.ImportedLibraries()
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", object, err)
	}
	dirs := append(python.OwnDirs(file, object), c.loaderDirs()...)
	for _, name := range needed {
		if have[name] {
			continue
		}
		from, there := c.find(dirs, name)
		if !there {
			return nil, fmt.Errorf("%s needs %s, which is in none of %s: install the package that has it", object, name, strings.Join(dirs, ", "))
		}
		if c.carried(from) { // beside the package, where the loader finds it as the object says
			continue
		}
		have[name] = true
		if err := c.copy(from, path.Join(nativeDir, path.Base(name))); err != nil {
			return nil, err
		}
		found = append(found, from)
	}
	return found, nil
}

// carried says whether a file of the root has come along with a package.
func (c *collector) carried(from string) bool {
	for name, origin := range c.origin {
		if origin == from && path.Dir(name) != nativeDir {
			return true
		}
	}
	return false
}

func (c *collector) find(dirs []string, name string) (string, bool) {
	for _, dir := range dirs {
		from, err := c.resolve(path.Join(dir, name))
		if err != nil {
			continue
		}
		if info, err := os.Stat(c.host(from)); err == nil && info.Mode().IsRegular() {
			return from, true
		}
	}
	return "", false
}

// loaderDirs are the folders in which glibc looks without a cache, and those that Debian's alternatives of BLAS and LAPACK lie in: there a
// cache, or a link that the package manager makes, leads to them.
func (c *collector) loaderDirs() []string {
	const triplet = "x86_64-linux-gnu"
	dirs := []string{"/lib/" + triplet, "/usr/lib/" + triplet, "/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib"}
	for _, alternative := range []string{"openblas-pthread", "openblas-serial", "blas", "lapack"} {
		dirs = append(dirs, "/usr/lib/"+triplet+"/"+alternative)
	}
	return slices.DeleteFunc(dirs, func(dir string) bool {
		_, err := c.resolve(dir)
		return errors.Is(err, fs.ErrNotExist)
	})
}
