package agent

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/agent/resting"
	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

// Why work on a lease ends though the lease counts: what is done is sent and the rest is returned.
var (
	errKilled     = errors.New("the killswitch is on for this")
	errTerminated = errors.New("the sandbox was ordered to end")
)

// errChanged is the server's word for a confirmation of directives that are not the latest.
var errChanged = answer.Code("directives_changed")

// overtaken is by how much directives may be older than others that came before them: no answer is under way for longer. Beyond that
// it is the server's clock that went back.
const overtaken = pollWait + callLimit

// orderBook holds what the server has forbidden, and whether that has been carried out.
type orderBook struct {
	mu        sync.Mutex
	at        time.Time // when the server looked, by its clock
	revision  string
	switches  []client.KillOrder
	confirmed string // the last revision that the server knows to be carried out
	// poke gets a token when there may be something to confirm.
	poke chan struct{}
}

func newOrderBook() *orderBook { return &orderBook{poke: make(chan struct{}, 1)} }

// take puts directives into force and says whether they are news. Older ones than those in force, as of a heartbeat that a poll has
// overtaken, are not: a switch does not go off by them.
func (b *orderBook) take(d *client.Directives) (news bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if age := b.at.Sub(d.At); d.Revision == "" || age > 0 && age < overtaken {
		return false // of a server that knows no switches, or overtaken
	}
	b.at = d.At
	if d.Revision == b.revision {
		return false
	}
	b.revision, b.switches = d.Revision, d.Switches
	b.nudge()
	return true
}

// nudge has the confirming loop look again.
func (b *orderBook) nudge() {
	select {
	case b.poke <- struct{}{}:
	default:
	}
}

// holds says whether a lease's work is forbidden now.
func (b *orderBook) holds(l *client.Lease) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, k := range b.switches {
		if holds(k, l) {
			return true
		}
	}
	return false
}

// holds is what a switch means.
func holds(k client.KillOrder, l *client.Lease) bool {
	switch k.Scope {
	case client.KillOrderScopeEverything:
		return true
	case client.KillOrderScopeProject:
		return k.Project != nil && *k.Project == l.Project
	case client.KillOrderScopeFunction:
		return k.Project != nil && *k.Project == l.Project && k.Function == l.Function && (k.Version == 0 || k.Version == l.Version)
	default:
		return true // a server that is newer than this agent means something: rather too much than too little
	}
}

// due is the revision that was not confirmed yet; "" where there is nothing to confirm.
func (b *orderBook) due() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.revision == b.confirmed {
		return ""
	}
	return b.revision
}

func (b *orderBook) confirm(revision string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.confirmed = revision
}

// known is the revision in force.
func (b *orderBook) known() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.revision
}

// follow does what directives ask for, whichever way they came.
func (a *agent) follow(d *client.Directives) {
	news := a.orders.take(d)
	if news {
		for _, k := range d.Switches {
			a.log.Warn("the killswitch is on", killedFields(k)...)
		}
		a.leases.stop(errKilled, func(l *heldLease) bool { return a.orders.holds(l.Lease) })
		if a.warm.Drop(func(b *resting.Box) bool { return a.orders.holds(b.Lease) }) {
			a.orders.nudge()
		}
	}
	for _, order := range d.Terminate {
		a.terminate(order)
	}
}

// killedFields are what the log says of a switch.
func killedFields(k client.KillOrder) []any {
	fields := []any{"scope", k.Scope}
	if k.Project != nil {
		fields = append(fields, "project", *k.Project)
	}
	if k.Function != "" {
		fields = append(fields, "function", k.Function)
	}
	if k.Version != 0 {
		fields = append(fields, "version", k.Version)
	}
	return fields
}

// terminate ends a sandbox: at once, or after its shard. One that is not there any more is reported as ended.
func (a *agent) terminate(order client.TerminateOrder) {
	box := a.boxes.get(order.Sandbox)
	switch {
	case box == nil:
		a.warm.DropAll() // one of them may have been this one
		a.boxes.gone(order.Sandbox)
	case order.Force:
		if box.end("ordered to end at once") {
			a.log.Warn("a sandbox was ordered to end at once", "sandbox", order.Sandbox, "lease", box.lease.ID)
		}
		box.lease.stale(errTerminated)
	default:
		if box.end("ordered to end after its shard") {
			a.log.Warn("a sandbox was ordered to end after its shard", "sandbox", order.Sandbox, "lease", box.lease.ID)
		}
	}
}

// obey always holds a poll for directives open, so that the agent ends within moments what it is told to end. Where that cannot be,
// heartbeats bring the same.
func (a *agent) obey(ctx context.Context) {
	var waits backoff
	for !over(ctx) {
		began := time.Now()
		d, err := a.server.directives(ctx, a.orders.known())
		switch {
		case over(ctx):
			return
		case isStatus(err, http.StatusNotFound) || isStatus(err, http.StatusMethodNotAllowed):
			a.log.Info("the server has no polls for directives: heartbeats bring them")
			return
		case err != nil:
			// Whatever is final, such as a revoked key, is the workers' and the heartbeat's to say.
			if !final(err) {
				a.outage.note("asking for directives", err)
			}
			sleep(ctx, max(waits.next(), min(retryAfter(err), maxRetryAfter)))
			continue
		}
		waits.reset()
		before := a.orders.known()
		a.follow(&d)
		if err := a.heed(ctx, d); err != nil {
			a.outage.note("doing what the server asks", err)
		}
		if a.orders.known() == before && time.Since(began) < hurriedPoll {
			sleep(ctx, hurriedPoll)
		}
	}
}

// confirm tells the server, as soon as it is so, that nothing runs of what the switches hold.
func (a *agent) confirm(ctx context.Context) {
	var waits backoff
	for !over(ctx) {
		select {
		case <-ctx.Done():
			return
		case <-a.orders.poke:
		}
		revision := a.orders.due()
		if revision == "" || a.forbiddenRuns() {
			continue
		}
		err := a.server.confirm(ctx, revision)
		switch {
		case err == nil:
			waits.reset()
			a.orders.confirm(revision)
			a.log.Debug("confirmed the server's directives", "revision", revision)
		case over(ctx):
			return
		case errors.Is(err, errChanged), isStatus(err, http.StatusNotFound), isStatus(err, http.StatusMethodNotAllowed):
			// The new ones are on their way; or only heartbeats confirm.
		default:
			a.outage.note("confirming directives", err)
			sleep(ctx, waits.next())
			a.orders.nudge()
		}
	}
}

// carriedOut is the revision that a heartbeat is to say is carried out; "" while it is not, or where the server knows.
func (a *agent) carriedOut() string {
	if a.forbiddenRuns() {
		return ""
	}
	return a.orders.due()
}

// forbiddenRuns says whether there is still a sandbox of what the switches hold.
func (a *agent) forbiddenRuns() bool {
	return a.leases.any(func(l *heldLease) bool { return a.orders.holds(l.Lease) }) || a.warm.Any(func(b *resting.Box) bool { return a.orders.holds(b.Lease) })
}

// stop ends the work on leases; what is done is sent, and the rest returned.
func (b *leaseBook) stop(why error, which func(*heldLease) bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, l := range b.held {
		if which(l) {
			l.stale(why)
		}
	}
}

// any says whether that is true of a held lease.
func (b *leaseBook) any(which func(*heldLease) bool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, l := range b.held {
		if which(l) {
			return true
		}
	}
	return false
}

// of is how many leases are held of a project and bundle.
func (b *leaseBook) of(project uuid.UUID, bundle string) (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, l := range b.held {
		if l.Project == project && l.BundleDigest == bundle {
			n++
		}
	}
	return n
}

// ordered says whether the work on a lease ended because somebody wanted it so.
func (l *heldLease) ordered() error {
	if cause := context.Cause(l.fresh); isOrder(cause) {
		return cause
	}
	return nil
}

func isOrder(err error) bool { return errors.Is(err, errKilled) || errors.Is(err, errTerminated) }
