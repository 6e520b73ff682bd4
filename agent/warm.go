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
}

func (b *warmBox) end() {
	_ = b.session.Close() // nothing waits for it
	b.leave()
}

// warmBoxes are the sandboxes that rest. No more of them rest and work than the agent may have leases: opening a further one ends one
// that rests.
type warmBoxes struct {
	mu   sync.Mutex // also held while one is ended: who asks whether any is left gets a true answer
	kept []*warmBox // those that have rested longest first
}

// keep has a sandbox rest.
func (w *warmBoxes) keep(b *warmBox) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.kept = append(w.kept, b)
}

// take returns a sandbox of this project and bundle. Where there is none one of the others makes place for a new one.
func (w *warmBoxes) take(project uuid.UUID, bundle string) *warmBox {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.IndexFunc(w.kept, func(b *warmBox) bool { return b.lease.Project == project && b.lease.BundleDigest == bundle })
	if i >= 0 {
		b := w.kept[i]
		w.kept = slices.Delete(w.kept, i, i+1)
		return b
	}
	if len(w.kept) > 0 {
		w.kept[0].end()
		w.kept = slices.Delete(w.kept, 0, 1)
	}
	return nil
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
			a.warm.drop(func(b *warmBox) bool { return time.Since(b.since) >= warmFor })
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
	w.warm.keep(&warmBox{lease: w.lease.Lease, session: session, leave: w.leave, since: time.Now()})
	// Whatever forbids it from here on finds it among those that rest; what came before is asked now.
	w.warm.drop(func(b *warmBox) bool { return w.orders.holds(b.lease) })
	return true
}
