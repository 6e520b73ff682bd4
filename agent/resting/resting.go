// Package resting keeps sandboxes for the next leases of their functions, stopped: starting one takes a tenth of a second, which is most of
// what a call takes.
package resting

import (
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/agent/isolation"
	"github.com/ostraka/ostraka/client"
)

const (
	// For is how long a sandbox rests for the next lease of its function before it ends.
	For = 30 * time.Second
	// KeptFor is how long one rests whose function asks for that with `warm`: a person who calls it now and then finds it ready.
	KeptFor = 15 * time.Minute
)

// Session is a session that can be kept for the next lease of its function. Between leases of one project it guarantees what it
// does between shards.
type Session interface {
	isolation.Session
	// Rest stops all that runs in it, and says whether it could.
	Rest() bool
	// Wake lets it go on, with shards of another job.
	Wake(job string) error
}

// Box is a sandbox that rests.
type Box struct {
	Lease   *client.Lease // the last that it served
	Session Session
	Leave   func() // frees what was reserved
	Since   time.Time
	Asked   int // how many its function asks the agent to keep
}

// of says whether that is the sandbox of this project and bundle.
func (b *Box) of(project uuid.UUID, bundle string) bool {
	return b.Lease.Project == project && b.Lease.BundleDigest == bundle
}

func (b *Box) end() {
	_ = b.Session.Close() // nothing waits for it
	b.Leave()
}

// Boxes are the sandboxes that rest. Those whose function asks for that rest in places of their own, as many as the agent may have
// leases. Of the others no more rest and work than that: opening a further one ends one that rests.
type Boxes struct {
	mu    sync.Mutex // also held while one is ended: who asks whether any is left gets a true answer
	kept  []*Box     // those that have rested longest first
	drops int        // how often all were ended
}

// Keep has a sandbox rest. Where more are kept than there are places for those that are asked for, the one that has rested longest ends.
func (w *Boxes) Keep(b *Box, places int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.keep(b, places)
}

// KeepOpened is Keep for one that was opened to rest, and says whether it does: not where all were ended since Drops said that number, for what
// they were ended for holds for this one too.
func (w *Boxes) KeepOpened(b *Box, places, drops int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.drops != drops {
		return false
	}
	w.keep(b, places)
	return true
}

// Drops is how often all were ended.
func (w *Boxes) Drops() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.drops
}

// keep is Keep for who holds the lock.
func (w *Boxes) keep(b *Box, places int) {
	w.kept = append(w.kept, b)
	asked := w.asked()
	if len(asked) > max(1, places) {
		w.end(asked[0])
	}
}

// Take returns a sandbox of this project and bundle. Where there is none one of the others makes place for a new one, but for those that
// are asked for.
func (w *Boxes) Take(project uuid.UUID, bundle string) *Box {
	w.mu.Lock()
	defer w.mu.Unlock()
	// The last that came to rest has the most of its memory still in place; and those that are not needed come to the end of their time.
	for _, b := range slices.Backward(w.kept) {
		if b.of(project, bundle) {
			w.forget(b)
			return b
		}
	}
	asked := w.asked()
	for _, b := range w.kept {
		if !slices.Contains(asked, b) {
			w.end(b)
			break
		}
	}
	return nil
}

// Count is how many of a project and bundle rest.
func (w *Boxes) Count(project uuid.UUID, bundle string) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, b := range w.kept {
		if b.of(project, bundle) {
			n++
		}
	}
	return n
}

// Tire ends sandboxes that have rested for long enough.
func (w *Boxes) Tire(now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	asked := w.asked()
	for _, b := range slices.Clone(w.kept) {
		long := For
		if slices.Contains(asked, b) {
			long = KeptFor
		}
		if now.Sub(b.Since) >= long {
			w.end(b)
		}
	}
}

// asked are those that functions ask for: of each no more than it asks for, the newest. The caller holds the lock.
func (w *Boxes) asked() (list []*Box) {
	for i, b := range w.kept {
		newer := 0
		for _, other := range w.kept[i+1:] {
			if other.of(b.Lease.Project, b.Lease.BundleDigest) {
				newer++
			}
		}
		if newer < b.Asked {
			list = append(list, b)
		}
	}
	return list
}

func (w *Boxes) end(b *Box) {
	w.forget(b)
	b.end()
}

func (w *Boxes) forget(b *Box) {
	w.kept = slices.DeleteFunc(w.kept, func(other *Box) bool { return other == b })
}

// Drop ends the sandboxes for which that is true, and says whether there were any.
func (w *Boxes) Drop(which func(*Box) bool) (some bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.drop(which)
}

// DropAll ends all, and those that are being opened to rest when they come, and says whether there were any.
func (w *Boxes) DropAll() (some bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.drops++
	return w.drop(All)
}

// drop is Drop for who holds the lock.
func (w *Boxes) drop(which func(*Box) bool) (some bool) {
	w.kept = slices.DeleteFunc(w.kept, func(b *Box) bool {
		if !which(b) {
			return false
		}
		b.end()
		some = true
		return true
	})
	return some
}

// Any says whether that is true of a resting sandbox.
func (w *Boxes) Any(which func(*Box) bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.kept, which)
}

// All is true of every sandbox.
func All(*Box) bool { return true }
