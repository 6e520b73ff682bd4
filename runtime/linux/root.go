//go:build linux

package linux

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// What a sandbox sees.
const (
	hostName  = "sandbox"
	pythonDir = "/python" // the interpreter that the program carries
	bundleDir = "/bundle"
	inputsDir = "/input" // the files of the shard
	workDir   = "/work"  // the workspace: all that can be written
)

// Folders of the workspace. /tmp and /dev/shm lead into it, so that what is
// written there counts.
const (
	homeName   = "home"
	outputName = "output"
	tmpName    = "tmp"
	shmName    = "shm"
	importName = "import" // HOME while the bundle is imported
	inputsName = "input"  // of the lease's folder on the host
)

var workspaceNames = []string{homeName, outputName, tmpName, shmName, importName}

// rootInodes bounds the files and folders of the root: mount points only.
const rootInodes = 4096

// devices are all that stands under /dev.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}

// separate makes sure that no mount reaches the host, and opens what the root
// will show while it can still be seen.
func (l *launcher) separate() error {
	if !l.order.Namespaces {
		return nil
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("making mounts private: %w", err)
	}
	passed := l.fds
	for _, b := range l.order.Binds {
		if b.Mount {
			l.mounts, passed = append(l.mounts, passed[0]), passed[1:]
			continue
		}
		var fd int
		var err error
		if b.Held {
			fd, err = reopenVolume(b, passed[0])
			passed = passed[1:]
		} else {
			fd, err = openTree(b.Source)
		}
		if err != nil {
			return err
		}
		l.mounts = append(l.mounts, fd)
	}
	return nil
}

// openTree makes a detached copy of a mount, with what is mounted below.
func openTree(path string) (int, error) {
	fd, err := unix.OpenTree(unix.AT_FDCWD, path, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
	if err != nil {
		return -1, fmt.Errorf("opening %s to be mounted: %w", path, err)
	}
	return fd, nil
}

// root builds the root and moves into it.
func (l *launcher) root() error {
	if !l.order.Namespaces {
		return nil
	}
	base, err := scaffold()
	if err != nil {
		return err
	}
	if err := unix.Chdir(base); err != nil {
		return fmt.Errorf("entering the new root: %w", err)
	}
	for i, b := range l.order.Binds {
		if err := attach(b, l.mounts[i]); err != nil {
			return fmt.Errorf("showing %s: %w", b.Target, err)
		}
	}
	if err := l.workspace(); err != nil {
		return err
	}
	// pivot_root(".", ".") puts the old root on top of the new one, from where
	// it is taken off.
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("pivot_root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("detaching the old root: %w", err)
	}
	if err := unix.Chdir("/"); err != nil {
		return err
	}
	return restrict(unix.AT_FDCWD, "/", 0, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV|unix.MOUNT_ATTR_NOEXEC)
}

// scaffold mounts the tmpfs that becomes the root over some folder of the
// host, in this namespace only.
func scaffold() (string, error) {
	var last error
	for _, dir := range []string{"/tmp", "/usr", "/var", "/run"} {
		last = unix.Mount("sandbox", dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0755,size=1m,nr_inodes="+strconv.Itoa(rootInodes))
		if last == nil {
			return dir, nil
		}
		if !errors.Is(last, unix.ENOENT) {
			break
		}
	}
	return "", fmt.Errorf("mounting a tmpfs: %w", last)
}

// attach mounts one file or folder below the current directory.
func attach(b bind, fd int) error {
	at := "." + filepath.Clean("/"+b.Target)
	parent := at
	if !b.Dir {
		parent = filepath.Dir(at)
	}
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return err
	}
	if !b.Dir {
		f, err := os.OpenFile(at, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o400)
		if err != nil {
			return err
		}
		f.Close()
	}
	flags := uint64(unix.MOUNT_ATTR_NOSUID)
	if !b.Device {
		flags |= unix.MOUNT_ATTR_NODEV
	}
	if !b.Exec {
		flags |= unix.MOUNT_ATTR_NOEXEC
	}
	if !b.Writable {
		flags |= unix.MOUNT_ATTR_RDONLY
	}
	if err := restrict(fd, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, flags); err != nil {
		return err
	}
	if err := unix.MoveMount(fd, "", unix.AT_FDCWD, at, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return fmt.Errorf("mounting: %w", err)
	}
	return nil
}

// restrict takes rights away from a mount.
func restrict(dir int, path string, how uint, flags uint64) error {
	attr := unix.MountAttr{Attr_set: flags}
	if err := unix.MountSetattr(dir, path, how, &attr); err != nil {
		return fmt.Errorf("restricting what can be done in it: %w", err)
	}
	return nil
}

// workspace mounts the one place that can be written.
func (l *launcher) workspace() error {
	q := l.order.Workspace
	at := "." + workDir
	if err := os.Mkdir(at, 0o700); err != nil {
		return fmt.Errorf("making the workspace: %w", err)
	}
	options := fmt.Sprintf("mode=0700,size=%d,nr_inodes=%d", q.Bytes, q.Inodes)
	if err := unix.Mount("work", at, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, options); err != nil {
		return fmt.Errorf("mounting the workspace: %w", err)
	}
	for _, name := range workspaceNames {
		if err := os.Mkdir(filepath.Join(at, name), 0o700); err != nil {
			return fmt.Errorf("making the workspace: %w", err)
		}
	}
	for link, to := range map[string]string{"./tmp": workDir + "/" + tmpName, "./dev/shm": workDir + "/" + shmName} {
		if err := os.Symlink(to, link); err != nil {
			return fmt.Errorf("making the workspace: %w", err)
		}
	}
	return nil
}
