package volume

import (
	"errors"
	"io/fs"
	"os"
	"time"
)

// Give hands a folder that functions write to, and what lies in it, to a user.
func (f *Folder) Give(uid, gid int) error {
	if f.lane == nil {
		return nil
	}
	_, _, err := f.tidy(uid, gid)
	return err
}

// release gives a lane back: what may be kept is kept for the next sandbox of the function. No process of this one lives. The lane is held until the end,
// so that nobody takes it meanwhile.
func (f *Folder) release() error {
	if f.lane == nil || f.lane.released {
		return nil
	}
	f.lane.released = true
	if f.lane.fresh {
		return errors.Join(Scrub(f.path), os.Remove(f.path))
	}
	left, emptied, err := f.tidy(os.Geteuid(), os.Getegid())
	v := f.lane.volume
	if over := f.weigh(left, f.lane.began); emptied || atFault(over) || f.Full() {
		f.setFull()
		left, err = Usage{}, errors.Join(err, Scrub(f.path))
	}
	now := time.Now() // a function may have said that it used it tomorrow
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.held, f.path)
	v.idle[f.path] = resting{left, now}
	return errors.Join(err, os.Chtimes(f.path, now, now))
}

// tidy gives a lane and all in it to a user, and removes what is neither file, folder nor link: devices, pipes and sockets. Files lose the bits by which
// programs run as their owner. One that holds too many or is nested too deeply is emptied. No process of a function lives meanwhile.
func (f *Folder) tidy(uid, gid int) (sum Usage, emptied bool, err error) {
	if err := f.file.Chmod(0o700); err != nil {
		return sum, false, err
	}
	if os.Geteuid() == 0 {
		if err := f.file.Chown(uid, gid); err != nil {
			return sum, false, err
		}
	}
	root, err := os.OpenRoot(f.path)
	if err != nil {
		return sum, false, err
	}
	defer root.Close()
	sum, err = walk(root, f.lane.of.entries, true, func(name string, info fs.FileInfo) error { return tidyOne(root, name, info, uid, gid) })
	if err == nil || ofMachine(err) {
		return sum, false, err
	}
	return Usage{}, true, Scrub(f.path)
}

func tidyOne(root *os.Root, name string, info fs.FileInfo, uid, gid int) error {
	mode := info.Mode()
	if !mode.IsRegular() && !mode.IsDir() && mode.Type() != fs.ModeSymlink {
		return root.Remove(name)
	}
	if os.Geteuid() == 0 {
		if err := root.Lchown(name, uid, gid); err != nil {
			return err
		}
	}
	if mode.IsRegular() && mode&(fs.ModeSetuid|fs.ModeSetgid|fs.ModeSticky) != 0 {
		return root.Chmod(name, mode.Perm())
	}
	return nil
}
