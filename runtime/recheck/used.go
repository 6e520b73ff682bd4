package recheck

import (
	"math"
	"sync"
	"time"

	"github.com/google/uuid"
)

// usedHalfLife is after how long an execution counts half. It is longer than what a small job needs, and short enough that one who has used
// much is not held back for it for long.
const usedHalfLife = 10 * time.Second

// Used is what each project has executed of late: the seconds of its batches, of which each counts half after usedHalfLife. Who has used
// less comes first.
type Used struct {
	mu  sync.Mutex
	of  map[uuid.UUID]*used
	now func() time.Time
}

// NewUsed counts from nothing.
func NewUsed() *Used { return &Used{of: map[uuid.UUID]*used{}, now: time.Now} }

// Begin counts one more batch of the project that runs, until end is called.
func (u *Used) Begin(project uuid.UUID) (end func()) {
	u.change(project, 1)
	return sync.OnceFunc(func() { u.change(project, -1) })
}

func (u *Used) change(project uuid.UUID, more int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	now := u.now()
	if u.of[project] == nil {
		u.of[project] = &used{at: now}
	}
	u.of[project].change(now, more)
	for p, one := range u.of {
		if one.by(now); one.forgotten() {
			delete(u.of, p)
		}
	}
}

// Less says whether one project has used less than the other.
func (u *Used) Less(one, other uuid.UUID) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	now := u.now()
	return u.spent(one, now) < u.spent(other, now)
}

// Outdone says whether a batch runs of a project that has used less than this one.
func (u *Used) Outdone(project uuid.UUID) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	now := u.now()
	mine := u.spent(project, now)
	for other, one := range u.of {
		if other != project && one.running > 0 && one.by(now) < mine {
			return true
		}
	}
	return false
}

func (u *Used) spent(project uuid.UUID, now time.Time) float64 {
	if one := u.of[project]; one != nil {
		return one.by(now)
	}
	return 0
}

// used is what one project has used.
type used struct {
	seconds float64
	at      time.Time // to which they are counted
	running int       // batches
}

// by counts up to a moment.
func (u *used) by(now time.Time) float64 {
	if past := now.Sub(u.at); past > 0 {
		left := math.Exp2(-past.Seconds() / usedHalfLife.Seconds())
		u.seconds = u.seconds*left + float64(u.running)*(1-left)*usedHalfLife.Seconds()/math.Ln2
		u.at = now
	}
	return u.seconds
}

// change counts up to a moment, from which on so many more batches run.
func (u *used) change(now time.Time, more int) {
	u.by(now)
	u.running += more
}

// forgotten says whether nothing of it counts any more.
func (u *used) forgotten() bool { return u.running == 0 && u.seconds < 0.001 }
