package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/agent/isolation"
	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/monitor/threshold"
	"github.com/ostraka/ostraka/runtime/volume"
)

// hurriedPoll is how soon an answer of "no work" comes too soon: a server that does not wait is not asked without end.
const hurriedPoll = time.Second

// heldPause is how soon an agent that gets no leases by decision asks again.
const heldPause = 5 * time.Second

// worker has one lease at a time.
type worker struct {
	*agent
	number int // from 0; the owner may allow fewer workers than there are
	size   *BatchSizer
	// refusals grows with leases that could not be worked on, one after the other, so that they are not taken and returned as
	// fast as the network allows.
	refusals backoff
}

func newWorker(a *agent, number int) *worker {
	return &worker{agent: a, number: number, size: NewBatchSizer(a.options.LeaseWork)}
}

// run asks for work and does it until soft ends; then it comes back as soon as what is done is sent, or hard ends. It returns an
// error only when it is no use to continue.
func (w *worker) run(soft, hard context.Context) error {
	for w.keeper.admit(soft, w.number) {
		lease, asked, err := w.ask(soft)
		if over(soft) {
			break
		}
		if w.heldBack(soft, err) {
			continue
		}
		if err != nil {
			return fmt.Errorf("asking for work: %w", err)
		}
		if lease == nil {
			continue
		}
		_, changed := w.keeper.allowed()
		err = w.serve(soft, hard, lease, asked)
		if isOrder(err) {
			sleep(soft, hurriedPoll) // a server that keeps leasing it is not asked without end
			continue
		}
		if err != nil {
			w.rest(soft, lease, err, changed)
			continue
		}
		w.refusals.reset()
	}
	return nil
}

// heldBack backs off while this agent is not eligible for work: it awaits approval, is drained, its owner has not accepted the
// agreement, or a rule of the server's guardian is against it. The next heartbeat says which, and goes out at once.
func (w *worker) heldBack(soft context.Context, err error) bool {
	held := []error{errNotActive, errEULARequired, errEULAMismatch, errDenied, errApprovalNeeded}
	if !slices.ContainsFunc(held, func(code error) bool { return errors.Is(err, code) }) {
		return false
	}
	w.log.Debug("the server lends this agent nothing now", "why", err)
	w.hurry()
	sleep(soft, heldPause)
	return true
}

// rest waits after a lease that could not be worked on.
func (w *worker) rest(soft context.Context, lease *client.Lease, err error, changed <-chan struct{}) {
	var r *refusal
	switch known := errors.As(err, &r); {
	case known && r.code == returnedRoom:
		w.room.wait(soft, changed)
		return
	case known && r.lasting:
		w.log.Warn("a function is refused", "lease", lease.ID, "project", lease.Project, "function", lease.Function, "code", r.code, "why", r.text)
		w.stands.refuses(Refusal{At: time.Now(), Project: lease.Project, Function: lease.Function, Version: lease.Version, Code: r.code, Text: r.text})
	default:
		w.log.Error("a lease could not be worked on", "lease", lease.ID, "function", lease.Function, "error", err)
	}
	w.size.Done(0, 0, 0)
	sleep(soft, w.refusals.next())
}

// ask waits for a lease. All tries of one request carry the same key, so that a lease whose answer was lost is found again.
func (w *worker) ask(ctx context.Context) (lease *client.Lease, asked time.Time, err error) {
	key, most := uuid.NewString(), w.size.Next()
	began := time.Now()
	w.stands.asksForWork()
	err = w.persist(ctx, "asking for work", func(ctx context.Context) (err error) {
		asked = time.Now()
		lease, err = w.server.lease(ctx, most, key)
		return err
	})
	if err == nil && lease == nil && time.Since(began) < hurriedPoll {
		sleep(ctx, hurriedPoll)
	}
	return lease, asked, err
}

// serve works on a lease: everything that it does not report in the end it gives back. The error says why nothing could be done.
func (w *worker) serve(soft, hard context.Context, lease *client.Lease, asked time.Time) error {
	// The time to live counts from when the lease was made. A poll may have waited for work before that, so counting from when
	// it was sent would end a lease before its time; the answer is a good measure, as the first heartbeat soon corrects it.
	held, release := w.leases.add(hard, lease, time.Now())
	defer release()
	held.journal = w.begin(lease)
	w.log.Debug("got a lease", "lease", lease.ID, "shards", len(lease.Shards), "after", time.Since(asked).Round(time.Millisecond))
	return w.serveHeld(soft, hard, held)
}

// serveHeld works on a lease that stands in the book.
func (w *worker) serveHeld(soft, hard context.Context, held *heldLease) error {
	defer w.orders.nudge()
	lease := held.Lease
	if w.orders.holds(lease) { // the switch came first, or while the lease was on its way
		held.stale(errKilled)
	}
	log := w.log.With("lease", lease.ID, "job", lease.Job, "function", lease.Function)
	saying := context.AfterFunc(held.fresh, func() {
		if cause := context.Cause(held.fresh); errors.Is(cause, errLeaseStale) {
			log.Warn("stopped the work on a lease", "why", cause)
		}
	})
	defer saying()
	work, err := w.prepare(soft, held)
	var done int
	if err == nil {
		began := time.Now()
		done, err = work.run(soft)
		w.size.Done(done, time.Since(began), held.ttl())
		if err != nil || done < len(lease.Shards) || !work.rest(soft) {
			err = errors.Join(err, work.close())
		} else {
			work.openSpares(soft)
		}
		if err == nil && work.box.ending() != "" {
			err = errTerminated
		}
	} else if sent, sendErr := w.sendFinished(held); sendErr != nil {
		err = errors.Join(err, sendErr)
	} else {
		done = sent
	}
	if leaseIsOver(err) { // the server said so to whatever was asked last
		held.end(err)
	}
	switch cause := context.Cause(held.alive); {
	case cause != nil && done == len(lease.Shards): // nothing of it is open any more
		held.journal.end()
		return nil
	case errors.Is(cause, errStopped): // hard has ended: there is no time left for anything
		held.journal.leave()
		return nil
	case cause != nil:
		lost := held.journal.end()
		log.Warn("a lease was ended early: its shards are lent again", "why", cause, "reported", done, "of", len(lease.Shards), "results_dropped", lost)
		return nil // also where it took the work along
	}
	if order := held.ordered(); order != nil {
		log.Warn("the work on a lease was ended by order", "why", order, "done", done, "of", len(lease.Shards))
		err = order
	}
	if done < len(lease.Shards) {
		w.giveBack(hard, held, done, refusalOf(err))
	} else {
		held.journal.end()
	}
	if over(soft) || isPause(err) {
		return nil
	}
	return err
}

// giveBack returns what was not reported, so that others get it at once. Without this they get it when the lease expires.
func (w *worker) giveBack(ctx context.Context, held *heldLease, done int, why client.Refusal) {
	err := w.persist(ctx, "returning a lease", func(ctx context.Context) error { return w.server.returnLease(ctx, held.ID, why) })
	if over(ctx) {
		held.journal.leave()
		return
	}
	held.journal.end()
	if err != nil {
		w.log.Debug("a lease could not be returned and will expire", "lease", held.ID, "error", err)
		return
	}
	w.log.Info("returned what is left of a lease", "lease", held.ID, "reported", done, "returned", len(held.Shards)-done, "code", why.Code, "why", why.Text)
}

// prepare fetches and checks the function and opens a sandbox for it.
func (w *worker) prepare(soft context.Context, held *heldLease) (*work, error) {
	ctx, cancel := both(soft, held.fresh)
	defer cancel(nil)
	if over(ctx) {
		return nil, context.Cause(ctx)
	}
	if held.spent != nil {
		return nil, held.spent
	}
	if why := w.keeper.stops(); why.Code != "" { // while the lease was on its way
		return nil, &pausedWork{why}
	}
	if err := w.acceptLease(held.Lease); err != nil {
		return nil, err
	}
	if err := w.checkOrigin(held.Lease); err != nil {
		return nil, err
	}
	b, err := w.fetch(ctx, held.Lease)
	if err != nil {
		return nil, err
	}
	if err := checkName(held.Lease, b); err != nil {
		return nil, err
	}
	if err := w.accept(b); err != nil {
		return nil, err
	}
	if err := w.guard(ctx, held.Lease, b); err != nil {
		return nil, err
	}
	plan, err := w.thresholds(held.Lease, &b.Manifest)
	if err != nil {
		return nil, err
	}
	folders, err := w.lendVolumes(ctx, held.Lease, b)
	if err != nil {
		return nil, err
	}
	session, leave, err := w.openGuarded(ctx, held.Lease, folders, func(ctx context.Context) (isolation.Session, func(), error) {
		return w.open(ctx, held, b, folders)
	})
	if err != nil {
		return nil, err
	}
	return &work{agent: w.agent, lease: held, bundle: b, session: session, leave: leave, box: w.boxes.open(held, w.sandboxFor(&b.Manifest).Level(), session, plan)}, nil
}

// open reserves what a function may use, and wakes the sandbox that rests for it or opens one.
func (w *worker) open(ctx context.Context, held *heldLease, b *bundle.Bundle, volumes []*volume.Folder) (session isolation.Session, leave func(), err error) {
	rested := w.warm.Take(held.Project, held.BundleDigest)
	if rested != nil {
		rested.Leave() // this lease may have other input files
	}
	p, needs := w.keeper.current(), reserved(&b.Manifest)
	leave, err = w.room.take(&p, &needs, inputBytes(held))
	if err != nil && w.warm.DropAll() {
		leave, err = w.room.take(&p, &needs, inputBytes(held))
	}
	switch {
	case err != nil && rested != nil:
		return nil, nil, errors.Join(err, rested.Session.Close())
	case err != nil:
		return nil, nil, err
	case rested != nil && rested.Session.Wake(held.Job.String()) == nil:
		return rested.Session, leave, nil
	case rested != nil:
		_ = rested.Session.Close() // it did not last; another one does the work
	}
	if session, err = w.openIn(ctx, held, b, volumes); err != nil {
		leave()
		return nil, nil, err
	}
	return session, leave, nil
}

// thresholds are those in force for a lease's sandbox.
func (w *worker) thresholds(l *client.Lease, m *bundle.Manifest) (threshold.Plan, error) {
	return threshold.Merge(limitsOf(m),
		threshold.Source{Name: "the machine's owner", Rules: &w.options.Thresholds},
		threshold.Source{Name: "the project", Rules: thresholdsOf(l.Monitor)},
		threshold.Source{Name: "the function", Rules: m.Monitor})
}

// maxBrokenBundles is how often a bundle may break off on its way before its lease is given back: a server whose copy is damaged
// breaks off each time, and no other agent could have the shards meanwhile.
const maxBrokenBundles = 4

func (w *worker) fetch(ctx context.Context, lease *client.Lease) (b *bundle.Bundle, err error) {
	broken := 0
	err = w.persist(ctx, "fetching a function", func(ctx context.Context) error {
		b, err = w.bundles.get(ctx, lease.BundleDigest, func(ctx context.Context) (io.ReadCloser, error) {
			return w.server.bundle(ctx, lease.ID)
		})
		if brokeOff(err) && ctx.Err() == nil {
			if broken++; broken == maxBrokenBundles {
				return refused(refusedBundle, fmt.Sprintf("the function's bundle broke off %d times on its way: the server's copy may be damaged", broken))
			}
		}
		return err
	})
	return b, err
}

// both returns a context that ends when either of two does.
func both(a, b context.Context) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(a)
	if over(b) { // AfterFunc would say so a little later
		cancel(context.Cause(b))
	}
	context.AfterFunc(b, func() { cancel(context.Cause(b)) })
	return ctx, cancel
}
