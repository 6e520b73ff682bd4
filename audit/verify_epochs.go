package audit

import (
	"bytes"
	"cmp"
	"slices"
)

// restartMark is in the canonical bytes of every record of a restart, and of hardly another.
var restartMark = []byte(`"action":"` + RestartAction + `"`)

// restart keeps a record that says that the log began anew. What only looks like one explains nothing.
func (e *export) restart(index int64, record []byte) {
	if len(e.restarts) == MaxRestarts || !bytes.Contains(record, restartMark) {
		return
	}
	r, err := ParseRestart(record)
	if err != nil || index < r.Restored.Size {
		return
	}
	r.Index = index
	e.restarts = append(e.restarts, r)
}

// epochs makes sure that heads are called otherwise than those before only where a record says that the log began anew.
func (r *Report) epochs(e *export) {
	slices.SortStableFunc(e.restarts, func(a, b Restart) int { return cmp.Compare(a.Index, b.Index) })
	heads := slices.Clone(e.heads)
	slices.SortStableFunc(heads, func(a, b Checkpoint) int { return cmp.Compare(a.Size, b.Size) })
	log, _ := Epoch(r.Origin)
	origin, next := log, 0
	for _, head := range heads {
		for ; next < len(e.restarts) && e.restarts[next].Index < head.Size; next++ {
			restart := e.restarts[next]
			if restart.From != origin {
				r.fault(Renamed, restart.Index, restart.Index+1, "record %d says that the log began anew and was called %s before, and it was called %s", restart.Index, restart.From, origin)
			}
			origin = restart.Origin
			r.Restarts = append(r.Restarts, restart)
		}
		if head.Origin != origin {
			r.fault(Renamed, 0, head.Size, "the head of %d records is called %s, and by its records the log is called %s there: whether and why it began anew is not said", head.Size, head.Origin, origin)
			return
		}
	}
	if len(heads) > 0 && r.Origin != origin {
		r.fault(Renamed, 0, heads[len(heads)-1].Size, "the export says that its log is called %s, and by its records it is called %s", r.Origin, origin)
	}
}
