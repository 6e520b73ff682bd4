package recheck

import (
	"math"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
)

const (
	// loadMemory is over how long a load is averaged: long enough that a project with a job of short steps counts as one that is at work between
	// two of them, short enough that what somebody did a while ago costs others nothing.
	loadMemory = 3 * time.Second
	// activeLoad is the load, in slots, from which a project counts as at work: who asks for a page now and then takes nothing from others.
	activeLoad = 0.02
	// forgottenLoad is far enough below it that many short slots add up.
	forgottenLoad = activeLoad / 1000
)

// Loads remember how many slots of this server each project has held lately, in all the turns that share them: transactions, requests and
// executions of shards. They tell the projects that take more than their part from those that do not.
type Loads struct {
	now func() time.Time

	mu       sync.Mutex
	projects map[uuid.UUID]*load
}

// load is what one project holds, and has held lately.
type load struct {
	held   int
	recent float64 // average of held, of which the past counts ever less
	at     time.Time
}

// NewLoads makes loads of nobody. now is the time; nil: time.Now.
func NewLoads(now func() time.Time) *Loads {
	if now == nil {
		now = time.Now
	}
	return &Loads{now: now, projects: map[uuid.UUID]*load{}}
}

// change notes that the project holds so many slots more.
func (l *Loads) change(project uuid.UUID, by int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	of := l.projects[project]
	if of == nil {
		of = &load{at: now}
		l.projects[project] = of
	}
	of.age(now)
	of.held += by
}

// age brings the average up to a time.
func (p *load) age(now time.Time) {
	past := now.Sub(p.at)
	if past <= 0 {
		return
	}
	kept := math.Exp(-past.Seconds() / loadMemory.Seconds())
	p.recent, p.at = p.recent*kept+float64(p.held)*(1-kept), now
}

// Part is how many of n slots the project may hold at this moment. It is all of them where no other project is at work, and where it takes
// no more than the others do in the mean; else its part beside theirs.
func (l *Loads) Part(project uuid.UUID, n int) (part int, all bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	var sum, own float64
	var others []float64
	for p, of := range l.projects {
		of.age(now)
		switch {
		case p == project:
			own = of.recent
		case of.recent >= activeLoad:
			sum += of.recent
			others = append(others, of.recent)
		case of.held == 0 && of.recent < forgottenLoad:
			delete(l.projects, p) // it comes back with its next slot
		}
	}
	if len(others) == 0 || own <= sum/float64(len(others)) {
		return n, true
	}
	return partBeside(n, others), false
}

// partBeside is how many of n slots are one project's beside others with such loads. Those that use less than an equal part keep what they use,
// and the rest is divided by those that would have more; one slot of it stays free for who comes. It is an equal part at least, and one slot.
func partBeside(n int, others []float64) int {
	equal := n / (len(others) + 1)
	slices.Sort(others)
	left := float64(n)
	for len(others) > 0 && others[0] < left/float64(len(others)+1) {
		left, others = left-others[0], others[1:]
	}
	free := int(left) // what is used is rounded up
	return max(1, equal, min(free/(len(others)+1), free-1))
}
