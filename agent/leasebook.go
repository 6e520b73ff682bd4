package agent

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/client"
)

// Why work on a lease ends before its last shard.
var (
	errLeaseEnded = errors.New("the server has ended the lease")
	errLeaseStale = errors.New("no heartbeat got through for as long as the lease lives, so its shards are lent again by now")
)

// heldLease is a lease that a worker works on.
type heldLease struct {
	*client.Lease
	// alive ends when the lease does not count any more: nothing is worth sending then.
	alive context.Context
	end   context.CancelCauseFunc
	// fresh ends when the lease has most likely expired, or when somebody orders its work to end: there is no point in executing
	// more of it, though what is done may still count. It is later moved by each heartbeat.
	fresh context.Context
	stale context.CancelCauseFunc
	timer *time.Timer

	taken    time.Time
	executed atomic.Int64 // shards, by this run of the agent

	journal *journal
	// Of a lease that an earlier run of the agent has left: what it has finished, and why no more of it is executed, if so.
	finished []client.ShardResult
	spent    *refusal
}

func (l *heldLease) ttl() time.Duration {
	// A server that says nothing useful must not make the agent spin.
	return max(time.Second, time.Duration(l.TTLSeconds)*time.Second)
}

// leaseBook holds the leases that the agent's workers work on, for the heartbeat.
type leaseBook struct {
	mu   sync.Mutex
	held map[uuid.UUID]*heldLease
	// changed gets a token when a lease was added, so that the next heartbeat is in time for it.
	changed chan struct{}
}

func (b *leaseBook) signal() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.changed == nil {
		b.changed = make(chan struct{}, 1)
	}
	return b.changed
}

// add opens a lease that was asked for at that time. release must be called when the work on it is over.
func (b *leaseBook) add(ctx context.Context, lease *client.Lease, asked time.Time) (held *heldLease, release func()) {
	held = &heldLease{Lease: lease, taken: asked}
	held.alive, held.end = context.WithCancelCause(ctx)
	held.fresh, held.stale = context.WithCancelCause(held.alive)
	held.timer = time.AfterFunc(time.Until(asked.Add(held.ttl())), func() { held.stale(errLeaseStale) })
	changed := b.signal()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.held == nil {
		b.held = map[uuid.UUID]*heldLease{}
	}
	b.held[lease.ID] = held
	if len(changed) == 0 {
		b.changed <- struct{}{}
	}
	return held, func() {
		held.timer.Stop()
		b.mu.Lock()
		delete(b.held, lease.ID)
		b.mu.Unlock()
		held.end(errStopped)
	}
}

// fresh is how many leases are worked on that most likely still count.
func (b *leaseBook) fresh() (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, l := range b.held {
		if l.fresh.Err() == nil {
			n++
		}
	}
	return n
}

// count is how many leases are worked on.
func (b *leaseBook) count() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.held)
}

// running says what is worked on now, the oldest first.
func (b *leaseBook) running() []Running {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := make([]Running, 0, len(b.held))
	for _, l := range b.held {
		all = append(all, Running{
			Project: l.Project, Job: l.Job, Function: l.Function, Version: l.Version, Since: l.taken,
			Shards: int64(len(l.Shards)), Executed: int64(len(l.finished)) + l.executed.Load(),
		})
	}
	slices.SortFunc(all, func(x, y Running) int { return x.Since.Compare(y.Since) })
	return all
}

// list names the leases and says how soon the next heartbeat is due: after a third of the shortest time to live, so that two may
// get lost.
func (b *leaseBook) list() (ids []uuid.UUID, due time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	due = idleBeat
	ids = []uuid.UUID{}
	for id, l := range b.held {
		ids = append(ids, id)
		due = min(due, l.ttl()/3)
	}
	return ids, due
}

// extended tells that a heartbeat for these leases, sent at that time, got through, and which of them do not count any more.
func (b *leaseBook) extended(ids, ended []uuid.UUID, sent time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, id := range ids {
		if l := b.held[id]; l != nil && l.fresh.Err() == nil {
			l.timer.Reset(time.Until(sent.Add(l.ttl())))
		}
	}
	for _, id := range ended {
		if l := b.held[id]; l != nil {
			l.end(errLeaseEnded)
		}
	}
}
