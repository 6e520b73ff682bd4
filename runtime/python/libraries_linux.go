package python

import (
	"debug/elf"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxLibraries is how many files one interpreter may need of its host, in closure: a bound for a search, far above what is real.
const maxLibraries = 200

// LibrariesOf lists what the dynamic loader opens for a program, the loader itself first, as Tree.Libraries does; nothing for a
// static program.
func LibrariesOf(program string) ([]string, error) { return libraries(program) }

// libraries finds what the dynamic loader opens for the given programs and shared objects, the loader itself first. It reads the
// files and runs none: `ldd` would run the loader that the program names.
func libraries(program string, objects ...string) ([]string, error) {
	loader, err := loaderThere(program)
	if err != nil || loader == "" {
		return nil, err
	}
	found := []string{loader}
	todo := append([]string{program}, objects...)
	for n := 0; n < len(todo); n++ {
		needed, err := neededBy(todo[n], loader)
		if err != nil {
			return nil, err
		}
		for _, library := range needed {
			if !slices.Contains(found, library) && !slices.Contains(todo, library) {
				found, todo = append(found, library), append(todo, library)
			}
		}
		if len(found) > maxLibraries {
			return nil, fmt.Errorf("%s needs more than %d libraries", program, maxLibraries)
		}
	}
	return found, nil
}

// loaderThere is the dynamic loader that a program names, which must be on this machine; empty for a static one.
func loaderThere(program string) (string, error) {
	file, err := elf.Open(program)
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", program, err)
	}
	defer func() { _ = file.Close() }() // it was only read
	loader, err := LoaderOf(file)
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", program, err)
	}
	if loader == "" {
		return "", nil
	}
	if _, err := os.Stat(loader); err != nil {
		return "", fmt.Errorf("%s wants the dynamic loader %s, which is not there (it needs glibc 2.17 or later): use another interpreter with --python", program, loader)
	}
	return loader, nil
}

// neededBy are the libraries that an object names, where the loader finds them. Those found beside the object by its own rules
// ($ORIGIN) are part of the interpreter's folder as often as not; they are told all the same.
func neededBy(object, loader string) ([]string, error) {
	file, err := elf.Open(object)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", object, err)
	}
	defer func() { _ = file.Close() }() // it was only read
	names, err := file.ImportedLibraries()
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", object, err)
	}
	dirs := append(OwnDirs(file, object), loaderDirs(file.Machine, loader)...)
	var found []string
	for _, name := range names {
		if name == filepath.Base(loader) {
			continue
		}
		library, err := firstIn(dirs, name)
		if err != nil {
			return nil, fmt.Errorf("%s needs %s, which is in none of %s", object, name, strings.Join(dirs, ", "))
		}
		found = append(found, library)
	}
	return found, nil
}

func firstIn(dirs []string, name string) (string, error) {
	for _, dir := range dirs {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path, nil
		}
	}
	return "", fs.ErrNotExist
}

// loaderDirs are the folders in which glibc looks without a cache (a sandbox has none): of Debian and its kin first, of the others
// then, and /usr/local last, which the machine's cache may name.
func loaderDirs(machine elf.Machine, loader string) []string {
	triplet := map[elf.Machine]string{elf.EM_X86_64: "x86_64-linux-gnu", elf.EM_AARCH64: "aarch64-linux-gnu"}[machine]
	var dirs []string
	if triplet != "" {
		dirs = append(dirs, "/lib/"+triplet, "/usr/lib/"+triplet)
	}
	return append(dirs, "/lib64", "/usr/lib64", "/lib", "/usr/lib", filepath.Dir(loader), "/usr/local/lib")
}
