//go:build unix

package runner

import "golang.org/x/sys/unix"

// reserve takes addresses that hold nothing yet.
func reserve(size int) ([]byte, error) {
	return unix.Mmap(-1, 0, size, unix.PROT_NONE, unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_NORESERVE)
}

// commit makes the start of them memory.
func commit(b []byte) error { return unix.Mprotect(b, unix.PROT_READ|unix.PROT_WRITE) }

// release gives all of them back.
func release(b []byte) { _ = unix.Munmap(b) } // only fails for addresses that are not ours
