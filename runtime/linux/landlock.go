//go:build linux

package linux

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Landlock's own library wants all threads of a program to be restricted and a
// /proc to find them; the launcher restricts the one thread that stays, after
// its root has lost /proc.

// minLandlock is the oldest ABI that keeps files from being truncated (3,
// Linux 6.2); with an older one there is no level `landlock`.
const minLandlock = 3

// Access rights by the version of the ABI that knows them first.
const (
	landlockFiles1 = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_READ_FILE |
		unix.LANDLOCK_ACCESS_FS_READ_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK | unix.LANDLOCK_ACCESS_FS_MAKE_SYM
	landlockNet = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP

	// scopes: 1 abstract unix sockets, 2 signals.
	landlockScopes = 3

	landlockRead    = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	landlockExecute = landlockRead | unix.LANDLOCK_ACCESS_FS_EXECUTE
	landlockDevice  = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE
	// landlockFile are the rights that a single file can have.
	landlockFile = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_READ_FILE |
		unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	// landlockNever may be done nowhere, the workspace included.
	landlockNever = unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK | unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
)

type landlockRuleset struct{ files, net, scoped uint64 }

type landlockPath struct {
	allowed uint64
	parent  int32
	_       int32
}

// landlockABI asks the kernel for its version; 0: none.
func landlockABI() (int, error) {
	v, _, e := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if e != 0 {
		return 0, e
	}
	return int(v), nil
}

// handled is what a domain of this version takes away.
func handled(abi int) (r landlockRuleset, size uintptr) {
	r.files, size = landlockFiles1, 8
	if abi >= 2 {
		r.files |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if abi >= 3 {
		r.files |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if abi >= 4 {
		r.net, size = landlockNet, 16
	}
	if abi >= 5 {
		r.files |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if abi >= ScopesABI {
		r.scoped, size = landlockScopes, 24
	}
	return r, size
}

// ScopesABI is the first version that knows scopes (Linux 6.12).
const ScopesABI = 6

// rules makes the second wall: the same files as the root shows, even if
// something else came to be seen. A kernel without Landlock has the others.
func (l *launcher) rules() error {
	l.ruleset = -1
	abi, err := landlockABI()
	if err != nil && (l.order.Namespaces || l.order.Contained) {
		return nil // the answer says so
	}
	if err != nil {
		return fmt.Errorf("asking for Landlock: %w", err)
	}
	l.abi = abi
	all, size := handled(abi)
	fd, _, e := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&all)), size, 0) //nolint:gosec // the kernel takes addresses
	if e != 0 {
		return fmt.Errorf("making a ruleset: %w", e)
	}
	l.ruleset = int(fd)
	held := l.fds
	for _, b := range l.order.Binds {
		path := b.Target
		switch {
		case l.order.Namespaces:
		case b.Held: // whatever lies at its path by now
			if err := l.allowFolder(held[0], b.Target, b.rights()&all.files); err != nil {
				return err
			}
			held = held[1:]
			continue
		default:
			path = b.Source
		}
		if err := l.allow(path, b.rights()&all.files); err != nil {
			return err
		}
	}
	work := workDir
	if l.order.Writable != "" {
		work = l.order.Writable
	}
	if l.order.Contained {
		for _, dir := range besideDirs {
			if err := l.allow(dir, all.files&^landlockNever); err != nil {
				return err
			}
		}
	}
	return l.allow(work, all.files&^landlockNever)
}

func (b bind) rights() uint64 {
	rights := uint64(landlockRead)
	switch {
	case b.Writable:
		return ^uint64(landlockNever)
	case b.Device:
		rights = landlockDevice
	case b.Exec:
		rights = landlockExecute
	}
	if !b.Dir {
		rights &= landlockFile
	}
	return rights
}

func (l *launcher) allow(path string, rights uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("opening %s for a rule: %w", path, err)
	}
	defer func() { _ = unix.Close(fd) }() // it was opened for the rule only
	return l.allowFolder(fd, path, rights)
}

// allowFolder allows what lies at a descriptor, or below it.
func (l *launcher) allowFolder(fd int, path string, rights uint64) error {
	rule := landlockPath{allowed: rights, parent: int32(fd)}
	if _, _, e := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(l.ruleset), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0); e != 0 { //nolint:gosec // the kernel takes addresses
		return fmt.Errorf("allowing %s: %w", path, e)
	}
	return nil
}
