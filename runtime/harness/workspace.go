//go:build linux

package harness

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"github.com/ostraka/ostraka/runtime/bundle"
)

// walker measures a workspace by descriptors, which no name, however long, and
// no link leads astray.
type walker struct {
	space
	limits bundle.Limits
	unlock bool // give the owner every folder back: no other process is in there
	seen   map[inode]bool
}

type inode struct{ device, number uint64 }

// measure walks a workspace until something is over its limit. The folders
// directly in dir are the harness's own and do not count.
func measure(dir string, limits bundle.Limits, unlock bool) (space, error) {
	w := walker{limits: limits, unlock: unlock}
	if err := w.folder(unix.AT_FDCWD, dir, -1); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return w.space, fmt.Errorf("measuring a workspace: %w", err)
	}
	return w.space, nil
}

func (w *walker) folder(parent int, name string, depth int) error {
	if depth > MaxWorkspaceDepth {
		w.deep = true
		return nil
	}
	fd, err := w.open(parent, name)
	if err != nil {
		return err
	}
	dir := os.NewFile(uintptr(fd), name)
	defer dir.Close()
	for w.over(w.limits) == stopNone {
		entries, err := dir.ReadDir(256)
		for _, e := range entries {
			if err := w.entry(fd, e, depth); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) || errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) open(parent int, name string) (int, error) {
	const how = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	fd, err := unix.Openat(parent, name, how, 0)
	if errors.Is(err, unix.EACCES) && w.unlock {
		if err := unix.Fchmodat(parent, name, 0o700, 0); err != nil {
			return -1, err
		}
		fd, err = unix.Openat(parent, name, how, 0)
	}
	return fd, err
}

func (w *walker) entry(parent int, e os.DirEntry, depth int) error {
	if w.over(w.limits) != stopNone {
		return nil
	}
	if !e.IsDir() {
		return w.file(parent, e.Name())
	}
	if depth >= 0 {
		w.inodes++
	}
	err := w.folder(parent, e.Name(), depth+1)
	if !w.unlock && (errors.Is(err, unix.EACCES) || errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP)) {
		return nil // the shard is at work there; the walk after its end sees everything
	}
	return err
}

// file counts the bytes of one file once, and each of its names as a file: a name
// takes room in its folder, and tmpfs counts it as an inode too.
func (w *walker) file(parent int, name string) error {
	var stat unix.Stat_t
	if err := unix.Fstatat(parent, name, &stat, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		if errors.Is(err, unix.ENOENT) {
			return nil
		}
		return err
	}
	w.inodes++
	if stat.Nlink > 1 {
		if w.seen == nil {
			w.seen = map[inode]bool{}
		}
		id := inode{stat.Dev, stat.Ino}
		if w.seen[id] {
			return nil
		}
		w.seen[id] = true
	}
	w.bytes += stat.Size
	return nil
}

// quotaSlack is what a file system made for one shard may be larger than the
// function's limit.
const quotaSlack = 64 << 20

// quotas looks at the file system that dir lies on.
func quotas(dir string, limits bundle.Limits) quota {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return quota{}
	}
	size := s.Blocks * uint64(s.Bsize)
	return quota{
		own:  s.Type == unix.TMPFS_MAGIC && size <= uint64(limits.DiskBytes+quotaSlack),
		full: s.Bavail == 0 || (s.Files > 0 && s.Ffree == 0),
	}
}
