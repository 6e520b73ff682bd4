package runner

import (
	"sync/atomic"

	"github.com/tetratelabs/wazero/experimental"
)

// memory grants linear memory to guests by reserving addresses and committing
// pages as they grow: growing copies nothing, an unused page costs nothing, and
// closing gives everything back. wazero's own way appends to a slice, which
// takes twice the memory while it copies.
type memory struct {
	limit   uint64      // bytes that a guest may have
	refused atomic.Bool // a guest asked for more
	short   atomic.Bool // the machine did not have what a guest may have
}

var _ experimental.MemoryAllocator = (*memory)(nil)

// Allocate implements experimental.MemoryAllocator.
func (m *memory) Allocate(_, maximum uint64) experimental.LinearMemory {
	reserved, err := reserve(int(max(1, min(maximum, m.limit))))
	if err != nil {
		m.short.Store(true)
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
	if size > 0 && commit(l.reserved[:size]) != nil {
		l.m.short.Store(true)
		return nil
	}
	return l.reserved[:size:size]
}

// Free implements experimental.LinearMemory.
func (l *linearMemory) Free() {
	if l.reserved != nil {
		release(l.reserved)
		l.reserved = nil
	}
}
