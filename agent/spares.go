package agent

import (
	"context"

	"github.com/ostraka/ostraka/agent/resting"
)

// openSpares opens further sandboxes of a function that asks for some (`warm`), once one of it rests: so many rest then as it asks for,
// and as there are places and room. What cannot be had is no error: the next lease opens what it needs.
func (w *work) openSpares(soft context.Context) {
	m := &w.bundle.Manifest
	if m.Warm < 2 || len(m.Volumes) > 0 { // a volume is lent to one lease
		return
	}
	w.sparing.Lock()
	defer w.sparing.Unlock()
	ctx, cancel := both(soft, w.lease.fresh)
	defer cancel(nil)
	for !over(ctx) && !w.keeperRests() && !w.orders.holds(w.lease.Lease) {
		places, _ := w.keeper.allowed()
		working := w.leases.of(w.lease.Project, w.lease.BundleDigest) - 1 // without this one, which is over
		if working+w.warm.Count(w.lease.Project, w.lease.BundleDigest) >= min(m.Warm, places) {
			return
		}
		if !w.openSpare(ctx) {
			return
		}
	}
}

// openSpare opens one and has it rest, and says whether it does.
func (w *work) openSpare(ctx context.Context) bool {
	drops := w.warm.Drops() // before the preferences are read, for opening may take minutes: what they were meanwhile holds for this one too
	p, needs := w.keeper.current(), reserved(&w.bundle.Manifest)
	leave, err := w.room.take(&p, &needs, 0)
	if err != nil {
		return false
	}
	session, err := w.openIn(ctx, w.lease, w.bundle, nil)
	if err != nil {
		leave()
		w.log.Debug("a spare sandbox could not be opened", "function", w.lease.Function, "error", err)
		return false
	}
	places, _ := w.keeper.allowed()
	if rests, able := session.(resting.Session); able && rests.Rest() && w.warm.KeepOpened(w.resting(rests, leave), places, drops) {
		w.dropHeld()
		return true
	}
	_ = session.Close() // nothing waits for it
	leave()
	return false
}
