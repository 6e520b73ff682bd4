package monitor

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// readInto reads the start of a file without the poller that os.File brings along: it halves what the table of processes costs.
func readInto(path string, into []byte) (int, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return 0, err
	}
	defer func() { _ = unix.Close(fd) }() // it was only read
	n := 0
	for n < len(into) {
		m, err := unix.Read(fd, into[n:])
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return 0, err
		}
		if m == 0 {
			break
		}
		n += m
	}
	return n, nil
}

// mounted says how much is used of a file system that begins at the directory; ok is false where none does.
func mounted(dir string) (used int64, ok bool) {
	var here, above unix.Stat_t
	if unix.Lstat(dir, &here) != nil || unix.Lstat(filepath.Dir(dir), &above) != nil || here.Dev == above.Dev {
		return 0, false
	}
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil {
		return 0, false
	}
	return int64(s.Blocks-s.Bfree) * s.Bsize, true
}

// onDisk is what a file takes of the disk: holes take nothing.
func onDisk(info fs.FileInfo) int64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Blocks * 512
	}
	return info.Size()
}

// ownGroup makes a command the leader of a process group that ends as a whole.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error {
		if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			return os.NewSyscallError("kill", err)
		}
		return nil
	}
}
