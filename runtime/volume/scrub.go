package volume

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strconv"
)

// scrubAtATime is how many entries of a folder are read at a time.
const scrubAtATime = 256

// Scrub empties a folder however deep what lies in it is nested: each folder
// comes to stand at the top before it is emptied, so that no path is long and
// nothing is held open. No process of the sandbox lives meanwhile.
func Scrub(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("emptying %s: %w", dir, err)
	}
	defer root.Close()
	s := scrubber{root: root}
	for {
		left, err := s.round(".")
		if err != nil {
			return fmt.Errorf("emptying %s: %w", dir, err)
		}
		if left == 0 {
			return nil
		}
	}
}

type scrubber struct {
	root *os.Root
	n    int // of the last name given
}

// round looks once at some entries of a folder, and says how many there were.
func (s *scrubber) round(name string) (int, error) {
	f, err := s.root.Open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	entries, err := f.ReadDir(scrubAtATime)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	for _, e := range entries {
		at := path.Join(name, e.Name())
		switch {
		case !e.IsDir():
			err = s.root.Remove(at)
		case name == ".":
			err = s.empty(at)
		default:
			err = s.raise(at)
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
	}
	return len(entries), nil
}

// empty removes a folder at the top, once what is in it has come to the top as well.
func (s *scrubber) empty(name string) error {
	if err := s.root.Chmod(name, 0o700); err != nil {
		return err
	}
	for {
		left, err := s.round(name)
		if err != nil {
			return err
		}
		if left == 0 {
			return s.root.Remove(name)
		}
	}
}

// raise moves a folder to the top.
func (s *scrubber) raise(name string) error {
	if err := s.root.Chmod(name, 0o700); err != nil {
		return err
	}
	for {
		s.n++
		to := "scrub-" + strconv.Itoa(s.n)
		if _, err := s.root.Lstat(to); err == nil {
			continue
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return s.root.Rename(name, to)
	}
}
