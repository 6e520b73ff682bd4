package agent

import (
	"context"
	"time"

	"github.com/ostraka/ostraka/agent/resting"
)

// warmLook is how often sandboxes are looked for that have rested for long enough.
const warmLook = 5 * time.Second

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
			_, changed = a.keeper.allowed() // before they end: what changes meanwhile is seen too
			a.warm.DropAll()
		case <-tick.C:
			a.warm.Tire(time.Now())
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
	session, able := w.session.(resting.Session)
	if !able || over(soft) || over(w.lease.fresh) || w.box.ending() != "" || w.keeperRests() || !session.Rest() {
		return false
	}
	w.boxes.close(w.box, w.endReason())
	w.keepWarm(session, w.leave)
	return true
}

func (w *work) keepWarm(session resting.Session, leave func()) {
	places, _ := w.keeper.allowed()
	w.warm.Keep(w.resting(session, leave), places)
	w.dropHeld()
}

func (w *work) resting(session resting.Session, leave func()) *resting.Box {
	return &resting.Box{Lease: w.lease.Lease, Session: session, Leave: leave, Since: time.Now(), Asked: w.bundle.Manifest.Warm}
}

// dropHeld ends those that a switch holds. Whatever forbids one from here on finds it among those that rest; what came before is asked now.
func (w *work) dropHeld() {
	w.warm.Drop(func(b *resting.Box) bool { return w.orders.holds(b.Lease) })
}
