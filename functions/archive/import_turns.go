package archive

import (
	"sync"
	"time"

	"github.com/google/uuid"
)

const (
	// turnKept is how long the next place is kept for a project that found it taken. Who still wants it asks again after importAgain, and has asked
	// shortly before the place became free: one that has not is forgotten, so that the place is not empty for who never comes back.
	turnKept = importAgain + 2*time.Second
	// maxWaiting is how many projects are remembered that found the place taken. One beyond it finds it by luck.
	maxWaiting = 1000
)

// importTurns hand out the place of the one archive that is imported at a time. Who finds it taken asks again: nobody waits in a server's memory. A project
// that had it last leaves it to another one that has asked for it, so that none imports one archive after the other while the others wait.
type importTurns struct {
	mu    sync.Mutex
	taken bool
	last  uuid.UUID
	asked map[uuid.UUID]time.Time // by projects that found it taken: when they asked last
}

func newTurns() *importTurns { return &importTurns{asked: map[uuid.UUID]time.Time{}} }

// take takes the place for a project, or says that it is taken.
func (t *importTurns) take(project uuid.UUID, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for other, at := range t.asked {
		if now.Sub(at) > turnKept {
			delete(t.asked, other)
		}
	}
	delete(t.asked, project)
	if t.taken || project == t.last && len(t.asked) > 0 {
		if len(t.asked) < maxWaiting {
			t.asked[project] = now
		}
		return false
	}
	t.taken, t.last = true, project
	return true
}

// leave gives the place back.
func (t *importTurns) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.taken = false
}
