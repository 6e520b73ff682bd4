package runner

import (
	"sync/atomic"

	"github.com/tetratelabs/wazero/experimental"
	"golang.org/x/sys/unix"
)

// memory grants linear memory to guests by reserving addresses and committing
// pages as they grow: growing copies nothing, an unused page costs nothing, and
// closing gives everything back. wazero's own way appends to a slice, which
// takes twice the memory while it copies.
type memory struct {
	limit   uint64      // bytes that a guest may have
	refused atomic.Bool // a guest asked for more
}

var _ experimental.MemoryAllocator = (*memory)(nil)

// Allocate implements experimental.MemoryAllocator.
func (m *memory) Allocate(_, maximum uint64) experimental.LinearMemory {
	reserved, err := unix.Mmap(-1, 0, int(max(1, min(maximum, m.limit))), unix.PROT_NONE, unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_NORESERVE)
	if err != nil {
		reserved = nil // Reallocate will refuse
	}
	return &linearMemory{m: m, reserved: reserved}
}

type linearMemory struct {
	m        *memory
	reserved []byte
}

// Reallocate implements experimental.LinearMemory; nil makes memory.grow fail.
func (l *linearMemory) Reallocate(size uint64) []byte {
	if size > uint64(len(l.reserved)) {
		l.m.refused.Store(true)
		return nil
	}
	if size > 0 && unix.Mprotect(l.reserved[:size], unix.PROT_READ|unix.PROT_WRITE) != nil {
		l.m.refused.Store(true)
		return nil
	}
	return l.reserved[:size:size]
}

// Free implements experimental.LinearMemory.
func (l *linearMemory) Free() {
	if l.reserved != nil {
		_ = unix.Munmap(l.reserved) // only fails for addresses that are not ours
		l.reserved = nil
	}
}
