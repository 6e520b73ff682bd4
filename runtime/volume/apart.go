package volume

import (
	"fmt"
	"os"
	"path/filepath"
)

// CheckApart refuses volumes that lie in one another where functions write to one of them: what they write would be read as another volume, and no bound
// would hold for both. Folders that are only read may overlap.
func CheckApart(list []Mapping) error {
	for i, m := range list {
		if err := m.apart(list[:i], within); err != nil {
			return err
		}
	}
	return nil
}

// apartOnDisk says why a volume cannot be shown beside others; one folder under two names, by a bind mount, is recognised.
func (m Mapping) apartOnDisk(others []Mapping) error {
	return m.apart(others, func(path, folder string) bool { return within(path, folder) || liesIn(path, folder) })
}

func (m Mapping) apart(others []Mapping, in func(path, folder string) bool) error {
	for _, o := range others {
		switch {
		case o.Name == m.Name || m.Mode != ReadWrite && o.Mode != ReadWrite:
		case in(m.Path, o.Path), in(o.Path, m.Path):
			return fmt.Errorf("volumes %s and %s share a folder, %s and %s, and functions write to one of them: choose folders of which none holds the other",
				o.Name, m.Name, o.Path, m.Path)
		}
	}
	return nil
}

// liesIn says whether one of the folders above a path, or the path itself, is a folder, whatever its name.
func liesIn(path, folder string) bool {
	meant, err := os.Stat(folder)
	if err != nil {
		return false // such a volume cannot be opened
	}
	for {
		if info, err := os.Stat(path); err == nil && os.SameFile(info, meant) {
			return true
		}
		above := filepath.Dir(path)
		if above == path {
			return false
		}
		path = above
	}
}
