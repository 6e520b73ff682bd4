package agent

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/agent/isolation"
	"github.com/ostraka/ostraka/client"
)

const (
	// warmFor is how long a sandbox rests for the next lease of its function before it ends: starting one takes a tenth of a second, which
	// is most of what a call takes.
	warmFor = 30 * time.Second
	// keptWarmFor is how long one rests whose function asks for that with `warm`: a person who calls it now and then finds it ready.
	keptWarmFor = 15 * time.Minute
	// warmLook is how often sandboxes are looked for that have rested for so long.
	warmLook = 5 * time.Second
)

// restingSession is a session that can be kept for the next lease of its function. Between leases of one project it guarantees what it
// does between shards.
type restingSession interface {
	isolation.Session
	// Rest stops all that runs in it, and says whether it could.
	Rest() bool
	// Wake lets it go on, with shards of another job.
	Wake(job string) error
}

// warmBox is a sandbox that rests.
type warmBox struct {
	lease   *client.Lease // the last that it served
	session restingSession
	leave   func() // frees what was reserved
	since   time.Time
	asked   int // how many its function asks the agent to keep
}

// of says whether that is the sandbox of this project and bundle.
func (b *warmBox) of(project uuid.UUID, bundle string) bool {
	return b.lease.Project == project && b.lease.BundleDigest == bundle
}

func (b *warmBox) end() {
	_ = b.session.Close() // nothing waits for it
	b.leave()
}

// warmBoxes are the sandboxes that rest. Those whose function asks for that rest in places of their own, as many as the agent may have
// leases. Of the others no more rest and work than that: opening a further one ends one that rests.
type warmBoxes struct {
	mu   sync.Mutex // also held while one is ended: who asks whether any is left gets a true answer
	kept []*warmBox // those that have rested longest first
}

// keep has a sandbox rest. Where more are kept than there are places for those that are asked for, the one that has rested longest ends.
func (w *warmBoxes) keep(b *warmBox, places int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.kept = append(w.kept, b)
	asked := w.asked()
	if len(asked) > max(1, places) {
		w.end(asked[0])
	}
}

// take returns a sandbox of this project and bundle. Where there is none one of the others makes place for a new one, but for those that
// are asked for.
func (w *warmBoxes) take(project uuid.UUID, bundle string) *warmBox {
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

// resting is how many of a project and bundle rest.
func (w *warmBoxes) resting(project uuid.UUID, bundle string) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, b := range w.kept {
		if b.of(project, bundle) {
			n++
		}
	}
	return n
}

// tire ends sandboxes that have rested for long enough.
func (w *warmBoxes) tire(now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	asked := w.asked()
	for _, b := range slices.Clone(w.kept) {
		long := warmFor
		if slices.Contains(asked, b) {
			long = keptWarmFor
		}
		if now.Sub(b.since) >= long {
			w.end(b)
		}
	}
}

// asked are those that functions ask for: of each no more than it asks for, the newest. The caller holds the lock.
func (w *warmBoxes) asked() (list []*warmBox) {
	for i, b := range w.kept {
		newer := 0
		for _, other := range w.kept[i+1:] {
			if other.of(b.lease.Project, b.lease.BundleDigest) {
				newer++
			}
		}
		if newer < b.asked {
			list = append(list, b)
		}
	}
	return list
}

func (w *warmBoxes) end(b *warmBox) {
	w.forget(b)
	b.end()
}

func (w *warmBoxes) forget(b *warmBox) {
	w.kept = slices.DeleteFunc(w.kept, func(other *warmBox) bool { return other == b })
}

// drop ends the sandboxes for which that is true, and says whether there were any.
func (w *warmBoxes) drop(which func(*warmBox) bool) (some bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.kept = slices.DeleteFunc(w.kept, func(b *warmBox) bool {
		if !which(b) {
			return false
		}
		b.end()
		some = true
		return true
	})
	return some
}

// any says whether that is true of a resting sandbox.
func (w *warmBoxes) any(which func(*warmBox) bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.kept, which)
}

func allWarm(*warmBox) bool { return true }

// cool ends sandboxes that have rested for long enough, and all of them when what the owner allows changes.
func (a *agent) cool(ctx context.Context) {
	tick := time.NewTicker(warmLook)
	defer tick.Stop()
	_, changed := a.keeper.allowed()
	for {
		select {
		case <-ctx.Done():
			return
		case <-changed:
			a.warm.drop(allWarm)
			_, changed = a.keeper.allowed()
		case <-tick.C:
			a.warm.tire(time.Now())
		}
	}
}

// keeperRests says whether no further lease comes, so that no sandbox need wait for it.
func (w *work) keeperRests() bool {
	why, _ := w.keeper.rests()
	return why.Code != ""
}

// rest keeps the sandbox of a lease that is done for the next one, and says whether it could.
func (w *work) rest(soft context.Context) bool {
	session, able := w.session.(restingSession)
	if !able || over(soft) || over(w.lease.fresh) || w.box.ending() != "" || w.keeperRests() || !session.Rest() {
		return false
	}
	w.boxes.close(w.box, w.endReason())
	w.keepWarm(session, w.leave)
	return true
}

func (w *work) keepWarm(session restingSession, leave func()) {
	places, _ := w.keeper.allowed()
	w.warm.keep(&warmBox{lease: w.lease.Lease, session: session, leave: leave, since: time.Now(), asked: w.bundle.Manifest.Warm}, places)
	// Whatever forbids it from here on finds it among those that rest; what came before is asked now.
	w.warm.drop(func(b *warmBox) bool { return w.orders.holds(b.lease) })
}
