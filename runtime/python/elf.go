package python

import (
	"debug/elf"
	"path"
	"strings"
)

// maxLoaderName bounds what is read of a program's header: the kernel takes no longer path.
const maxLoaderName = 4096

// LoaderOf is the dynamic loader that a program names; empty for a static one.
func LoaderOf(program *elf.File) (string, error) {
	for _, p := range program.Progs {
		if p.Type != elf.PT_INTERP {
			continue
		}
		name := make([]byte, min(p.Filesz, maxLoaderName))
		if _, err := p.ReadAt(name, 0); err != nil {
			return "", err
		}
		return strings.TrimRight(string(name), "\x00"), nil
	}
	return "", nil
}

// OwnDirs are the folders in which an object itself, which lies at a path, says that its libraries are.
func OwnDirs(object *elf.File, at string) (dirs []string) {
	for _, tag := range []elf.DynTag{elf.DT_RPATH, elf.DT_RUNPATH} {
		lists, err := object.DynString(tag)
		if err != nil {
			continue
		}
		for _, list := range lists {
			for dir := range strings.SplitSeq(list, ":") {
				origin := path.Dir(at)
				dir = strings.NewReplacer("$ORIGIN", origin, "${ORIGIN}", origin).Replace(dir)
				if path.IsAbs(dir) {
					dirs = append(dirs, path.Clean(dir))
				}
			}
		}
	}
	return dirs
}
