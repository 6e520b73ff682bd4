package volume

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/moby/sys/mountinfo"
	"golang.org/x/sys/unix"
)

// Supported says whether functions can be shown folders here.
const Supported = true

// openFolder opens a folder by a path in which no link may be, neither one that lies there nor one of the kernel's own making.
func openFolder(path string) (*os.File, error) {
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{
		Flags:   unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	})
	switch {
	case errors.Is(err, unix.ELOOP):
		return nil, fmt.Errorf("there is a link in %s: name the folder that it leads to", path)
	case errors.Is(err, unix.ENOTDIR):
		return nil, fmt.Errorf("%s is no folder", path)
	case err != nil:
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}

// Reopen opens the folder at a path and makes sure that it is the one of a descriptor: a process in another mount namespace must go by the path,
// since it cannot mount what was opened outside.
func Reopen(path string, held int) (int, error) {
	file, err := openFolder(path)
	if err != nil {
		return -1, err
	}
	defer file.Close()
	var there, meant unix.Stat_t
	if err := errors.Join(unix.Fstat(int(file.Fd()), &there), unix.Fstat(held, &meant)); err != nil {
		return -1, err
	}
	if there.Dev != meant.Dev || there.Ino != meant.Ino {
		return -1, fmt.Errorf("%s is another folder than the one that was checked", path)
	}
	return unix.FcntlInt(file.Fd(), unix.F_DUPFD_CLOEXEC, 0)
}

// kinds are file systems that are no folders of anybody's: they show or command the kernel.
var kinds = map[int64]string{
	unix.PROC_SUPER_MAGIC: "proc", unix.SYSFS_MAGIC: "sysfs", unix.CGROUP_SUPER_MAGIC: "cgroup", unix.CGROUP2_SUPER_MAGIC: "cgroup2",
	unix.DEVPTS_SUPER_MAGIC: "devpts", unix.DEBUGFS_MAGIC: "debugfs", unix.TRACEFS_MAGIC: "tracefs", unix.SECURITYFS_MAGIC: "securityfs",
	unix.BPF_FS_MAGIC: "bpf", unix.EFIVARFS_MAGIC: "efivarfs", unix.NSFS_MAGIC: "nsfs",
}

func checkKind(f *os.File) error {
	var s unix.Statfs_t
	if err := unix.Fstatfs(int(f.Fd()), &s); err != nil {
		return fmt.Errorf("asking which file system it is: %w", err)
	}
	if name, blocked := kinds[int64(s.Type)]; blocked { //nolint:unconvert // it is narrower on other processors
		return fmt.Errorf("it is a file system of the kind %s, which can never be a volume", name)
	}
	return nil
}

// checkMounts refuses a folder below which something is mounted. Levels of isolation differ in whether they show that, and what may be shown was decided
// for the folder alone: a fingerprint would be one of what some functions do not see.
func checkMounts(path string) error {
	at, err := mountinfo.GetMounts(func(m *mountinfo.Info) (skip, stop bool) {
		below := m.Mountpoint != path && within(m.Mountpoint, path)
		return !below, below
	})
	if err != nil {
		return fmt.Errorf("asking what is mounted below it: %w", err)
	}
	if len(at) > 0 {
		return fmt.Errorf("something is mounted below it, at %s: unmount that, or make it a volume of its own and name a folder without it", at[0].Mountpoint)
	}
	return nil
}

// root is the folder for reading what lies in it, wherever its path leads by now.
func (f *Folder) root() (*os.Root, error) {
	return os.OpenRoot("/proc/self/fd/" + strconv.Itoa(int(f.file.Fd())))
}
