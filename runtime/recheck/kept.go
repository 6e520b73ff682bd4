package recheck

import (
	"errors"
	"io"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
)

// restFor is how long a sandbox rests for the next batch of its function before it is ended. To make one takes a second of processor with
// containers, which is what a hundred small shards take; what rests holds its memory.
const restFor = 30 * time.Second

// keptFor is how long a sandbox serves batches: whatever a shard may have left in it lasts no longer.
const keptFor = 10 * time.Minute

// Served says which batches a sandbox may serve: those of one function and project, with one hash seed. Between two of them it guarantees
// what it does between two shards.
type Served struct {
	Project  uuid.UUID
	Bundle   string // its digest
	HashSeed uint32
	Inputs   int64 // how many bytes of files fit, where that was decided when it was made
}

// Served is what a sandbox for the batch serves from then on.
func (b *Batch) Served() Served {
	return Served{Project: b.Project, Bundle: b.Bundle.Digest, HashSeed: b.HashSeed}
}

// Kept are the sandboxes of an executor that rest for the next batch of their function. No more of them rest and work than batches may be
// under way: who needs a further one ends the one that has rested longest.
type Kept[S io.Closer] struct {
	room int // how many rest and work together
	log  *slog.Logger

	mu      sync.Mutex
	working int
	resting []*kept[S] // longest first
	closed  bool
	work    sync.WaitGroup // ends in the background
}

type kept[S io.Closer] struct {
	sandbox S
	of      Served
	made    time.Time
	over    *time.Timer
}

// NewKept keeps so many sandboxes at most, less those that work.
func NewKept[S io.Closer](room int, log *slog.Logger) *Kept[S] { return &Kept[S]{room: room, log: log} }

// Begin counts a batch, and gives it the sandbox that rests for it, and when that was made, where there is one. End or Keep must follow.
func (k *Kept[S]) Begin(of Served) (sandbox S, made time.Time, found bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if i := slices.IndexFunc(k.resting, func(r *kept[S]) bool { return r.of == of }); i >= 0 {
		r := k.remove(i)
		sandbox, made, found = r.sandbox, r.made, true
	}
	k.begin()
	return sandbox, made, found
}

// BeginNew counts a batch that wants an unused sandbox.
func (k *Kept[S]) BeginNew() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.begin()
}

func (k *Kept[S]) begin() {
	k.working++
	for len(k.resting) > 0 && len(k.resting)+k.working > k.room {
		k.end(k.remove(0))
	}
}

// End says that a batch has ended, and its sandbox with it.
func (k *Kept[S]) End() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.working--
}

// Keep says that a batch has ended, whose sandbox rests from now on, or ends where it was made too long ago.
func (k *Kept[S]) Keep(sandbox S, of Served, made time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.working--
	r := &kept[S]{sandbox: sandbox, of: of, made: made}
	if k.closed || time.Since(made) >= keptFor {
		k.end(r)
		return
	}
	r.over = time.AfterFunc(restFor, func() { k.expire(r) })
	k.resting = append(k.resting, r)
}

func (k *Kept[S]) expire(r *kept[S]) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if i := slices.Index(k.resting, r); i >= 0 {
		k.end(k.remove(i))
	}
}

func (k *Kept[S]) remove(i int) *kept[S] {
	r := k.resting[i]
	r.over.Stop()
	k.resting = slices.Delete(k.resting, i, i+1)
	return r
}

func (k *Kept[S]) end(r *kept[S]) {
	k.work.Go(func() {
		if err := r.sandbox.Close(); err != nil {
			k.log.Warn("ending a sandbox that rested", "error", err)
		}
	})
}

// Close ends all that rests and waits for it; what comes to rest later is ended then.
func (k *Kept[S]) Close() error {
	k.mu.Lock()
	k.closed = true
	resting := k.resting
	k.resting = nil
	k.mu.Unlock()
	var err error
	for _, r := range resting {
		r.over.Stop()
		err = errors.Join(err, r.sandbox.Close())
	}
	k.work.Wait()
	return err
}
