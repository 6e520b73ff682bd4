package top

import (
	"slices"
	"time"

	"github.com/google/uuid"
)

// window is over how long a rate is taken: long enough not to jump with every lease, short enough to show that something stands.
const window = 30 * time.Second

// mark is how many shards of a job were done at a moment.
type mark struct {
	at   time.Time
	done int64
}

// Rates remembers samples of the last while, and says how fast jobs are. The zero value is ready.
type Rates struct {
	marks map[uuid.UUID][]mark
}

// Fill gives the jobs of a sample their rates. A job that was seen once has that of its whole life.
func (r *Rates) Fill(s *Sample) {
	next := make(map[uuid.UUID][]mark, len(s.Jobs))
	for i := range s.Jobs {
		j := &s.Jobs[i]
		marks := append(recent(r.marks[j.ID], s.At), mark{s.At, j.Done})
		next[j.ID] = marks
		first := marks[0]
		if len(marks) == 1 {
			first = mark{at: j.Since}
		}
		j.Rate, j.Left = 0, 0
		if passed := s.At.Sub(first.at).Seconds(); !first.at.IsZero() && passed > 0 && j.Done > first.done {
			j.Rate = float64(j.Done-first.done) / passed
			j.Left = float64(max(j.Total-j.Done, 0)) / j.Rate
		}
	}
	r.marks = next
}

// recent drops what is older than the window, but for the newest of it: a rate is over the whole window.
func recent(marks []mark, now time.Time) []mark {
	old := slices.IndexFunc(marks, func(m mark) bool { return now.Sub(m.at) <= window })
	switch {
	case old < 0 && len(marks) > 0:
		return marks[len(marks)-1:]
	case old > 0:
		return marks[old-1:]
	}
	return marks
}
