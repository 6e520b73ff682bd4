package harness

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/ostraka/ostraka/runtime/bundle"
)

// walkSpace walks a workspace until something is over its limit. The folders
// directly in dir are the harness's own and do not count. A file counts under
// each of its names.
func walkSpace(dir string, limits bundle.Limits, unlock bool) (space, error) {
	var s space
	root, err := os.OpenRoot(dir)
	if err != nil {
		return s, fmt.Errorf("measuring a workspace: %w", err)
	}
	defer root.Close()
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case s.over(limits) != stopNone:
			return fs.SkipAll
		case err != nil && unlock && errors.Is(err, fs.ErrPermission):
			return fmt.Errorf("measuring a workspace: %w", err)
		case err != nil:
			return nil //nolint:nilerr // the shard is at work there; the walk after its end sees everything
		case name == ".", d.IsDir() && !strings.Contains(name, "/"):
			return nil
		}
		s.inodes++
		s.deep = s.deep || strings.Count(name, "/") > MaxWorkspaceDepth
		if info, err := d.Info(); err == nil && !d.IsDir() {
			s.bytes += info.Size()
		}
		return nil
	})
	return s, err
}
