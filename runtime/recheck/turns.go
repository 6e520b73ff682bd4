package recheck

import (
	"context"
	"slices"
	"sync"

	"github.com/google/uuid"
)

// Turns gives out a server's slots for batches, so that no project keeps others waiting: a free slot goes to the project that holds fewest of
// them, and round robin between those that hold as many. There is one slot more than a project may hold: one that has taken all it may,
// for shards that do nothing for minutes, leaves this one to another.
// Functions whose shards may take long have a lane of slots of their own, so that short batches do not wait for them.
type Turns struct {
	mu    sync.Mutex
	lanes [2]lane
}

// spare is how many slots of a lane there are besides those that one project may hold.
const spare = 1

type lane struct {
	free    int
	most    int // that one project may hold
	held    map[uuid.UUID]int
	waiting map[uuid.UUID][]chan struct{} // first come first served
	round   []uuid.UUID                   // projects that wait, in the order of their turns
}

// LongSlots is how many slots long functions have beside so many others.
func LongSlots(slots int) int { return max(1, slots/2) }

// Room is how many batches may run at a time where one project may have so many slots.
func Room(slots int) int { return slots + LongSlots(slots) + 2*spare }

// NewTurns makes turns of so many slots for a project, and LongSlots of them besides.
func NewTurns(slots int) *Turns {
	t := &Turns{}
	for i, n := range []int{slots, LongSlots(slots)} {
		t.lanes[i] = lane{free: n + spare, most: n, held: map[uuid.UUID]int{}, waiting: map[uuid.UUID][]chan struct{}{}}
	}
	return t
}

func (t *Turns) lane(long bool) *lane {
	if long {
		return &t.lanes[1]
	}
	return &t.lanes[0]
}

// Take waits for the project's turn. The slot must be given back with Give.
func (t *Turns) Take(ctx context.Context, project uuid.UUID, long bool) error {
	t.mu.Lock()
	l := t.lane(long)
	turn := make(chan struct{})
	if len(l.waiting[project]) == 0 {
		l.round = append(l.round, project)
	}
	l.waiting[project] = append(l.waiting[project], turn)
	l.hand()
	t.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !l.withdraw(project, turn) {
		l.give(project) // the turn came at the same moment
	}
	return context.Cause(ctx)
}

// Give gives a slot back.
func (t *Turns) Give(project uuid.UUID, long bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lane(long).give(project)
}

// Wanted says whether another project waits for a slot of the lane and could have this one's: one that has all it may waits for itself.
func (t *Turns) Wanted(project uuid.UUID, long bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.lane(long)
	return slices.ContainsFunc(l.round, func(other uuid.UUID) bool { return other != project && l.held[other] < l.most })
}

// Waiting is how many batches of the project wait for a slot of the lane.
func (t *Turns) Waiting(project uuid.UUID, long bool) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.lane(long).waiting[project])
}

func (l *lane) give(project uuid.UUID) {
	l.free++
	if l.held[project]--; l.held[project] == 0 {
		delete(l.held, project)
	}
	l.hand()
}

// hand gives free slots to the projects whose turn it is.
func (l *lane) hand() {
	for l.free > 0 && len(l.round) > 0 {
		project := slices.MinFunc(l.round, func(a, b uuid.UUID) int { return l.held[a] - l.held[b] })
		if l.held[project] >= l.most {
			return // what is free is for others
		}
		turn := l.waiting[project][0]
		l.withdraw(project, turn)
		if i := slices.Index(l.round, project); i >= 0 { // more of it wait: the others come first now
			l.round = append(slices.Delete(l.round, i, i+1), project)
		}
		l.free--
		l.held[project]++
		close(turn)
	}
}

// withdraw takes a turn out of the queue; false if it is no longer in it.
func (l *lane) withdraw(project uuid.UUID, turn chan struct{}) bool {
	queue := l.waiting[project]
	i := slices.Index(queue, turn)
	if i < 0 {
		return false
	}
	if queue = slices.Delete(queue, i, i+1); len(queue) > 0 {
		l.waiting[project] = queue
		return true
	}
	delete(l.waiting, project)
	if i := slices.Index(l.round, project); i >= 0 {
		l.round = slices.Delete(l.round, i, i+1)
	}
	return true
}
