package runner

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	// maxFiles bounds open descriptors: three pipes, what the Go runtime
	// needs, and one file of the cache at a time.
	maxFiles = 32
	// threads is how many the Go scheduler uses: one for the guest, one for
	// the collector.
	threads = 2
	// oomScore makes the kernel, short of memory, choose a runner before the
	// server or its database.
	oomScore = "1000"
)

// confine takes away from this process what a runner does not need.
func confine(s Setup) error {
	// Privileges are given up per thread, and the filter spreads it to all.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	runtime.GOMAXPROCS(threads)
	debug.SetTraceback("none") // a crash needs its first line only
	unix.Umask(0o077)
	if err := closeInherited(); err != nil {
		return err
	}
	if err := os.Chdir("/"); err != nil {
		return err
	}
	// A preference, not a wall: some containers mount /proc read-only.
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte(oomScore), 0)
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("giving up new privileges: %w", err)
	}
	for _, l := range []struct {
		name     string
		resource int
		value    uint64
	}{
		{"RLIMIT_CORE", unix.RLIMIT_CORE, 0},
		{"RLIMIT_NOFILE", unix.RLIMIT_NOFILE, maxFiles},
		{"RLIMIT_FSIZE", unix.RLIMIT_FSIZE, s.FileSize},
		{"RLIMIT_CPU", unix.RLIMIT_CPU, s.CPU},
		{"RLIMIT_DATA", unix.RLIMIT_DATA, s.Data * dataFactor},
	} {
		if err := limit(l.resource, l.value); err != nil {
			return fmt.Errorf("setting %s to %d: %w", l.name, l.value, err)
		}
	}
	giveWay()
	if err := restrict(runCalls, loadCalls); err != nil && !errors.Is(err, errNoSeccomp) {
		return err
	}
	return nil
}

// limit lowers a resource limit; one that is lower already stays.
func limit(resource int, value uint64) error {
	var now unix.Rlimit
	if err := unix.Getrlimit(resource, &now); err != nil {
		return err
	}
	value = min(value, now.Max)
	return unix.Setrlimit(resource, &unix.Rlimit{Cur: value, Max: value})
}

// closeInherited closes the descriptors that came from the server. Go marks its
// own close-on-exec, but what the server itself inherited, or a C library
// opened, would slip through.
func closeInherited() error {
	const dir = "/proc/self/fd"
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("listing open descriptors: %w", err)
	}
	for _, e := range entries {
		fd, err := strconv.Atoi(e.Name())
		if err != nil || fd <= 2 {
			continue
		}
		// Gone already: the descriptor that listed the directory. Anonymous
		// inodes: the Go runtime's own poller.
		target, err := os.Readlink(filepath.Join(dir, e.Name()))
		if err != nil || strings.HasPrefix(target, "anon_inode:") {
			continue
		}
		_ = unix.Close(fd) // best effort: it may have been the listing's own
	}
	return nil
}
