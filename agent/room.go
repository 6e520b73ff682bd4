package agent

import (
	"context"
	"fmt"
	"sync"

	"github.com/ostraka/ostraka/agent/prefs"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/wasmbox"
)

// returnedRoom is the code of a lease that is returned because what runs already takes the place.
const returnedRoom = "no_room"

// room is how much memory and disk the functions that run may use by their limits.
type room struct {
	mu     sync.Mutex
	memory int64
	disk   int64
	freed  chan struct{} // closed and replaced when something was freed
}

func newRoom() *room { return &room{freed: make(chan struct{})} }

// reserved is what a function may take of the machine: what a module is allowed is its instance's memory, and its process takes more.
func reserved(m *bundle.Manifest) bundle.Limits {
	l := m.Limits
	if m.IsWasm() {
		l.MemoryBytes += wasmbox.Overhead
	}
	return l
}

// shares are what the parts of an agent may take of the disk that its owner lets it have, so that they are within it together; zero: what
// they may take without one.
type shares struct{ runs, results, runtimes, bundles, inputs int64 }

func sharesOf(disk int64) shares {
	eighth := disk / 8
	return shares{runs: disk / 2, results: eighth, runtimes: eighth, bundles: eighth, inputs: eighth}
}

// take reserves what a function may use (see reserved), and its input files on the disk, or says why not. The owner's disk is shared: see shares.
func (r *room) take(p *prefs.Preferences, m *bundle.Limits, inputs int64) (leave func(), err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	memory, disk := p.MemoryBytes, sharesOf(p.DiskBytes).runs
	wanted := m.DiskBytes + inputs
	switch {
	case memory > 0 && m.MemoryBytes > memory:
		return nil, refused(refusedCaps, fmt.Sprintf("by its limit memory_bytes it may take %d and all functions here may have %d together", m.MemoryBytes, memory))
	case disk > 0 && m.DiskBytes <= disk && wanted > disk:
		return nil, refused(refusedCaps, fmt.Sprintf("its limit disk_bytes is %d, the input files of a shard take %d more, and all functions here may have %d together", m.DiskBytes, inputs, disk))
	case disk > 0 && m.DiskBytes > disk:
		return nil, refused(refusedCaps, fmt.Sprintf("its limit disk_bytes is %d and all functions here may have %d together", m.DiskBytes, disk))
	case memory > 0 && r.memory+m.MemoryBytes > memory, disk > 0 && r.disk+wanted > disk:
		return nil, &refusal{code: returnedRoom, text: "the functions that run on this machine leave no room for it now"}
	}
	r.memory += m.MemoryBytes
	r.disk += wanted
	memory, disk = m.MemoryBytes, wanted
	return sync.OnceFunc(func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.memory -= memory
		r.disk -= disk
		close(r.freed)
		r.freed = make(chan struct{})
	}), nil
}

// wait returns when something was freed, or when the preferences or the context have changed.
func (r *room) wait(ctx context.Context, changed <-chan struct{}) {
	r.mu.Lock()
	freed, empty := r.freed, r.memory == 0 && r.disk == 0
	r.mu.Unlock()
	if empty {
		return
	}
	select {
	case <-ctx.Done():
	case <-changed:
	case <-freed:
	}
}
