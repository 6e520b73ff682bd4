package agent

import (
	"fmt"

	"github.com/ostraka/ostraka/runtime/bundle"
)

// Caps are what the owner of the machine lets a function have. Zero fields do not limit.
type Caps struct {
	MemoryBytes int64 // of one shard
	DiskBytes   int64 // of one shard
	WallSeconds int64 // of one shard
	CPUSeconds  int64 // of one shard
	Pids        int64 // processes at a time
}

// refuse says why the agent does not run a function, or nothing when it does. What is compared are the limits that the sandbox
// will enforce, so a function cannot take more than it was allowed here.
func (c Caps) refuse(level bundle.Isolation, m *bundle.Manifest) error {
	if !level.AtLeast(m.MinIsolation) {
		return refused(refusedIsolation, fmt.Sprintf("it asks for isolation %q and this agent achieves %q", m.MinIsolation, level))
	}
	for _, limit := range []struct {
		name        string
		wanted, cap int64
	}{
		{"memory_bytes", m.Limits.MemoryBytes, c.MemoryBytes},
		{"disk_bytes", m.Limits.DiskBytes, c.DiskBytes},
		{"wall_seconds", m.Limits.WallSeconds, c.WallSeconds},
		{"cpu_seconds", m.Limits.CPUSeconds, c.CPUSeconds},
		{"pids", m.Limits.Pids, c.Pids},
	} {
		if limit.cap > 0 && limit.wanted > limit.cap {
			return refused(refusedCaps, fmt.Sprintf("its limit %s is %d and this agent allows %d", limit.name, limit.wanted, limit.cap))
		}
	}
	return nil
}

// lower are the lower ones of two sets of caps.
func (c Caps) lower(d Caps) Caps {
	return Caps{
		MemoryBytes: lowerCap(c.MemoryBytes, d.MemoryBytes), DiskBytes: lowerCap(c.DiskBytes, d.DiskBytes),
		WallSeconds: lowerCap(c.WallSeconds, d.WallSeconds), CPUSeconds: lowerCap(c.CPUSeconds, d.CPUSeconds), Pids: lowerCap(c.Pids, d.Pids),
	}
}

// lowerCap is the lower of two caps; zero does not limit.
func lowerCap(a, b int64) int64 {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}
