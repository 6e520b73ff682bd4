package recheck

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
)

// Turns gives out a server's slots for batches, so that no project keeps others waiting: a free slot goes to the project that holds fewest of
// them, and round robin between those that hold as many. There is one slot more than a project may hold: one that has taken all it may,
// for shards that do nothing for minutes, leaves this one to another.
// Functions whose shards may take long have a lane of slots of their own, so that short batches do not wait for them.
type Turns struct {
	mu    sync.Mutex
	lanes [2]lane
	loads *Loads
	share int // slots that projects which take more than others have together while others are at work; 0: as many as they may hold
}

// spare is how many slots of a lane there are besides those that one project may hold.
const spare = 1

type lane struct {
	turns   *Turns
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

// NewTurns makes turns of so many slots for a project, and LongSlots of them besides. What projects hold is noted in the loads; nil: nowhere.
func NewTurns(slots int, loads *Loads) *Turns { return NewSharedTurns(slots, 0, loads) }

// NewSharedTurns is NewTurns where projects that take more than others have their part of so many slots while those are at work.
func NewSharedTurns(slots, share int, loads *Loads) *Turns {
	if loads == nil {
		loads = NewLoads(nil)
	}
	t := &Turns{loads: loads, share: share}
	for i, n := range []int{slots, LongSlots(slots)} {
		t.lanes[i] = lane{turns: t, free: n + spare, most: n, held: map[uuid.UUID]int{}, waiting: map[uuid.UUID][]chan struct{}{}}
	}
	return t
}

// NewOpenTurns is NewSharedTurns without a bound of all projects together: none of them can take another one's slots, however many work together.
func NewOpenTurns(slots, share int, loads *Loads) *Turns {
	t := NewSharedTurns(slots, share, loads)
	for i := range t.lanes {
		t.lanes[i].free = math.MaxInt
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
	return slices.ContainsFunc(l.round, func(other uuid.UUID) bool { return other != project && l.mayHold(other) })
}

// Yield is how long a batch of the project pauses after a shard that took so long. It pauses while the project takes more of the server than
// others, and all slots of the lane are out: a processor is needed then that was somebody's alone. Its batches together leave three quarters
// of one slot to the others.
func (t *Turns) Yield(project uuid.UUID, long bool, took time.Duration) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.lane(long)
	held := l.held[project]
	if l.free > 0 || held == 0 {
		return 0
	}
	if _, all := t.loads.Part(project, 1); all {
		return 0
	}
	return yieldFor * took / time.Duration(held)
}

// yieldFor is how many times as long as its last shard took a project's only batch pauses.
const yieldFor = 3

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
	l.turns.loads.change(project, -1)
	l.hand()
}

// mayHold says whether the project may hold one more slot. One that holds none always may, so that whoever waits is looked at again when
// something is given back.
func (l *lane) mayHold(project uuid.UUID) bool {
	held := l.held[project]
	if held >= l.most || held == 0 || l.turns.share == 0 {
		return held < l.most
	}
	part, all := l.turns.loads.Part(project, l.turns.share)
	return all || held < part
}

// hand gives free slots to the projects whose turn it is.
func (l *lane) hand() {
	for l.free > 0 && len(l.round) > 0 {
		project, found := l.next()
		if !found {
			return // what is free is for others
		}
		turn := l.waiting[project][0]
		l.withdraw(project, turn)
		if i := slices.Index(l.round, project); i >= 0 { // more of it wait: the others come first now
			l.round = append(slices.Delete(l.round, i, i+1), project)
		}
		l.free--
		l.held[project]++
		l.turns.loads.change(project, 1)
		close(turn)
	}
}

// next is the project whose turn it is.
func (l *lane) next() (project uuid.UUID, found bool) {
	for _, p := range l.round {
		if (!found || l.held[p] < l.held[project]) && l.mayHold(p) {
			project, found = p, true
		}
	}
	return project, found
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
