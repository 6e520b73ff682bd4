package volume

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Identity tells a folder from all others of its machine, for who finds it again in a container that somebody else has made.
type Identity struct {
	Name     string `json:"name"`
	Mode     Mode   `json:"mode"`
	Device   uint64 `json:"device"`
	Inode    uint64 `json:"inode"`
	Changed  int64  `json:"changed"`  // nanoseconds; nobody can set it
	Modified int64  `json:"modified"` // nanoseconds
}

// Identity is that of an open folder.
func (f *Folder) Identity() (Identity, error) {
	id, err := identify(f.file)
	if err != nil {
		return Identity{}, fmt.Errorf("looking at volume %s: %w", f.Name, err)
	}
	id.Name, id.Mode = f.Name, f.Mode
	return id, nil
}

func identify(f *os.File) (id Identity, err error) {
	var s unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &s); err != nil {
		return id, err
	}
	return Identity{Device: s.Dev, Inode: s.Ino, Changed: s.Ctim.Nano(), Modified: s.Mtim.Nano()}, nil
}

// FindShown opens the folder that a container shows as a volume, and makes sure that it is the one that was meant and can be used in its mode only.
// virtual says that the container's kernel is not the machine's and numbers folders by itself: there the folder is told by when it was changed, which
// nobody can set.
func (id Identity) FindShown(virtual bool) (*Folder, error) {
	if err := CheckName(id.Name); err != nil {
		return nil, err
	}
	path := filepath.Join(Root, id.Name)
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0) // the container's own filter knows no openat2
	if err != nil {
		return nil, fmt.Errorf("finding volume %s in the container: %w", id.Name, err)
	}
	f := &Folder{Name: id.Name, Mode: id.Mode, path: path, file: file}
	if err := id.checkShown(file, virtual); err != nil {
		return nil, errors.Join(fmt.Errorf("finding volume %s in the container: %w", id.Name, err), f.Close())
	}
	return f, nil
}

func (id Identity) checkShown(file *os.File, virtual bool) error {
	write := unix.Access(file.Name(), unix.W_OK)
	if id.Mode == ReadWrite { // it is made with the container, and belongs to nobody else
		if write != nil {
			return fmt.Errorf("it cannot be written to: %w", write)
		}
		return checkEmpty(file)
	}
	there, err := identify(file)
	if err != nil {
		return err
	}
	same := there.Device == id.Device && there.Inode == id.Inode
	if virtual {
		same = there.Changed == id.Changed && there.Modified == id.Modified
	}
	var s unix.Statfs_t
	if err := unix.Fstatfs(int(file.Fd()), &s); err != nil {
		return err
	}
	switch {
	case !same:
		return ErrOtherFolder
	case !errors.Is(write, unix.EROFS) && !errors.Is(write, unix.EACCES) || !virtual && s.Flags&unix.ST_RDONLY == 0:
		return errors.New("it is not read-only")
	}
	return nil
}

func checkEmpty(file *os.File) error {
	names, err := file.Readdirnames(1)
	if len(names) > 0 {
		return errors.New("it is not empty")
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// ErrOtherFolder says that a container shows another folder than the one that was checked.
var ErrOtherFolder = errors.New("it is another folder than the one that was checked: somebody has changed its path meanwhile, or the container's machine is another one")
