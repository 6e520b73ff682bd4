package guardian

import (
	"slices"
	"time"
)

// Conditions are what an operation that is allowed must keep to. Each of them only tightens, and the zero value asks for nothing.
type Conditions struct {
	Isolation   string    `json:"isolation,omitempty"`    // at least
	CPUSeconds  int64     `json:"cpu_seconds,omitempty"`  // of a shard, at most; so the other limits
	WallSeconds int64     `json:"wall_seconds,omitempty"` //
	MemoryBytes int64     `json:"memory_bytes,omitempty"` //
	Pids        int64     `json:"pids,omitempty"`         //
	Quorum      int64     `json:"quorum,omitempty"`       // at least
	TargetError float64   `json:"target_error,omitempty"` // at most
	RecheckAll  bool      `json:"recheck_all,omitempty"`  // the server executes every shard as well
	Owners      []string  `json:"owners,omitzero"`        // agents of these owners only; an empty list that is not nil: of nobody
	Shards      int64     `json:"shards,omitempty"`       // at most
	ValidUntil  time.Time `json:"valid_until,omitzero"`
}

// levels are the levels of isolation, weakest first.
var levels = []string{"process", "landlock", "linux-nocgroup", "linux", "wasm", "container", "gvisor"}

// Empty tells whether nothing is asked for.
func (c Conditions) Empty() bool {
	return c.Owners == nil && c.same(Conditions{})
}

func (c Conditions) same(d Conditions) bool {
	return c.Isolation == d.Isolation && c.CPUSeconds == d.CPUSeconds && c.WallSeconds == d.WallSeconds && c.MemoryBytes == d.MemoryBytes &&
		c.Pids == d.Pids && c.Quorum == d.Quorum && c.TargetError == d.TargetError && c.RecheckAll == d.RecheckAll && c.Shards == d.Shards &&
		c.ValidUntil.Equal(d.ValidUntil) && (c.Owners == nil) == (d.Owners == nil) && slices.Equal(c.Owners, d.Owners)
}

// Merge is what keeps to both: the loosest conditions that are as strict as either.
func Merge(a, b Conditions) Conditions {
	return Conditions{
		Isolation:   stronger(a.Isolation, b.Isolation),
		CPUSeconds:  least(a.CPUSeconds, b.CPUSeconds),
		WallSeconds: least(a.WallSeconds, b.WallSeconds),
		MemoryBytes: least(a.MemoryBytes, b.MemoryBytes),
		Pids:        least(a.Pids, b.Pids),
		Quorum:      max(a.Quorum, b.Quorum),
		TargetError: least(a.TargetError, b.TargetError),
		RecheckAll:  a.RecheckAll || b.RecheckAll,
		Owners:      both(a.Owners, b.Owners),
		Shards:      least(a.Shards, b.Shards),
		ValidUntil:  earlier(a.ValidUntil, b.ValidUntil),
	}
}

// stronger is the stronger of two levels; the empty one asks for nothing.
func stronger(a, b string) string {
	if slices.Index(levels, a) >= slices.Index(levels, b) {
		return a
	}
	return b
}

// least is the smaller of two bounds, of which 0 is none.
func least[N int64 | float64](a, b N) N {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// both are the names that are in both lists, sorted; nil is the list of all names.
func both(a, b []string) []string {
	if a == nil {
		a, b = b, a
	}
	if a == nil {
		return nil
	}
	shared := []string{}
	for _, name := range a {
		if b == nil || slices.Contains(b, name) {
			shared = append(shared, name)
		}
	}
	slices.Sort(shared)
	return slices.Compact(shared)
}

func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
