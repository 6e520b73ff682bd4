// Package testenv gives tests the real parts: a fresh database on a real
// Postgres, a bucket on a real MinIO, a real Docker daemon.
//
// The servers start when the first test of a binary asks for one and are shared
// by the rest of that binary. TestMain should call Main, which stops them
// properly. A test binary without it, or one that panics, calls os.Exit or is
// killed, leaves nothing behind either: the kernel ends the servers with the
// binary, and a reaper removes their files.
package testenv

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// Main runs the tests and stops what they started. TestMain returns after it:
// the binary then exits with the tests' own code.
func Main(m *testing.M) {
	m.Run()
	shared.stop()
}

// shared is what the tests of this binary have in common. It is global because
// a test binary is the scope: tests of one binary meet nowhere else.
var shared environment

// environment owns the servers and their directory.
type environment struct {
	mu        sync.Mutex
	dir       string
	stops     []func()
	stopReaps []func()

	postgres postgresServer
	minio    minioServer
	docker   dockerServer
}

// directory is removed when the binary ends, however it ends. The caller holds mu.
func (e *environment) directory() (string, error) {
	if e.dir != "" {
		return e.dir, nil
	}
	dir, stop, err := reapedDirectory("")
	if err != nil {
		return "", err
	}
	e.dir, e.stopReaps = dir, append(e.stopReaps, stop)
	return dir, nil
}

const (
	// memory is where Linux keeps files in memory.
	memory = "/dev/shm"
	// enoughMemory is how many bytes must be free there: tests at the same time have some databases of 20 MB each, and a log of 256 MB.
	enoughMemory = 4 << 30
)

// quickDirectory is one like directory, in memory where there is enough: thousands of files that are made and removed for each database take a
// tenth of all time of tests on ext4. Whoever sets TMPDIR has it there. The caller holds mu.
func (e *environment) quickDirectory() (string, error) {
	var free unix.Statfs_t
	if os.Getenv("TMPDIR") != "" || unix.Statfs(memory, &free) != nil || free.Bavail*uint64(free.Bsize) < enoughMemory {
		return e.directory()
	}
	dir, stop, err := reapedDirectory(memory)
	if err != nil {
		return e.directory()
	}
	e.stopReaps = append(e.stopReaps, stop)
	return dir, nil
}

func reapedDirectory(in string) (dir string, stop func(), err error) {
	if dir, err = os.MkdirTemp(in, "ostraka-test-"); err != nil {
		return "", nil, err
	}
	if stop, err = reap(dir); err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	return dir, stop, nil
}

// ModuleCache is a directory of compiled modules for all tests of this binary: a module is compiled once, not by each installation. It must
// not be used by tests of compiling itself.
func ModuleCache(t testing.TB) string {
	t.Helper()
	shared.mu.Lock()
	defer shared.mu.Unlock()
	dir, err := shared.directory()
	if err != nil {
		t.Fatalf("making room for compiled modules: %v", err)
	}
	return filepath.Join(dir, "modules")
}

// reaperScript waits until its input ends, which is when we do, and removes the
// directory. The servers may take a moment to die, hence the tries.
const reaperScript = `cat >/dev/null; n=0
until rm -rf -- "$1" 2>/dev/null || [ $n -ge 100 ]; do n=$((n+1)); sleep 0.1; done`

// reap starts the reaper; calling the result makes it act and waits for it.
func reap(dir string) (func(), error) {
	cmd := exec.Command("/bin/sh", "-c", reaperScript, "reaper", dir)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a Ctrl-C is for the tests, not for it
	alive, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return func() {
		alive.Close()
		_ = cmd.Wait()
	}, nil
}

// stop ends the servers, the latest first, and removes their files.
func (e *environment) stop() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i := len(e.stops) - 1; i >= 0; i-- {
		e.stops[i]()
	}
	e.stops = nil
	for _, stop := range e.stopReaps {
		stop()
	}
}
