package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ostraka/ostraka/agent/spool"
	"github.com/ostraka/ostraka/client"
)

// maxTakenUp is how often a lease is gone on with after the agent has died with it: a shard that kills agents must not kill this one
// forever. After that what is finished is sent and the rest is returned.
const maxTakenUp = 2

// returnedDied is the code of a lease with which the agent has died too often.
const returnedDied = "agent_died"

// leftLease is a lease that an earlier run of the agent has left.
type leftLease struct {
	held    *heldLease
	release func()
}

// takeUp goes on with the leases that an earlier run has left, where they still count: what is finished is sent, the rest is executed.
func (a *agent) takeUp(soft, hard context.Context, stop context.CancelCauseFunc) {
	left := a.leftLeases(hard)
	if len(left) == 0 {
		return
	}
	// Whether they count the server knows: neither of our clocks would tell after a restart.
	err := a.persist(soft, "asking which leases still count", func(ctx context.Context) error { return a.beatOnce(ctx, stop) })
	if err != nil {
		for _, l := range left {
			l.held.journal.leave()
			l.release()
		}
		return
	}
	places, _ := a.keeper.allowed()
	var leases errgroup.Group
	leases.SetLimit(max(1, places))
	for i, l := range left {
		leases.Go(func() error {
			defer l.release()
			if err := newWorker(a, i).serveHeld(soft, hard, l.held); err != nil {
				a.log.Error("a lease that an earlier run has left could not be worked on", "lease", l.held.ID, "error", err)
			}
			return nil
		})
	}
	_ = leases.Wait() // its functions return no errors
}

// leftLeases reads the spool.
func (a *agent) leftLeases(hard context.Context) (left []leftLease) {
	logs, dropped, err := a.spool.Leftovers(time.Now())
	if err != nil {
		a.log.Error("what an earlier run has left cannot be read", "error", err)
	}
	for _, d := range dropped {
		a.log.Warn("dropped what an earlier run has left", "file", d.Name, "why", d.Why)
	}
	for _, log := range logs {
		l, err := a.leftLease(hard, log)
		if err != nil {
			a.log.Warn("dropped what an earlier run has left", "why", err, "finished", len(log.Results))
			if err := log.Remove(); err != nil {
				a.log.Warn("it could not be removed", "error", err)
			}
			continue
		}
		left = append(left, l)
	}
	return left
}

func (a *agent) leftLease(hard context.Context, log *spool.Log) (leftLease, error) {
	l, finished, err := readSpooled(log)
	switch {
	case err != nil:
		return leftLease{}, err
	case l.URL != a.options.URL || l.Agent != a.id:
		return leftLease{}, fmt.Errorf("lease %s is of another server, or of another agent", l.Lease.ID)
	case len(l.Lease.Shards) == 0:
		return leftLease{}, fmt.Errorf("lease %s is done", l.Lease.ID)
	}
	if log.Torn > 0 {
		a.log.Warn("the last record of a lease was not written whole and was cut off; its shard is executed again", "lease", l.Lease.ID, "bytes", log.Torn)
	}
	a.log.Info("an earlier run of the agent has left a lease", "lease", l.Lease.ID, "function", l.Lease.Function, "finished", len(finished), "open", len(l.Lease.Shards)-len(finished))
	if err := log.Adopted(); err != nil {
		a.log.Warn("it cannot be noted that a lease is taken up again", "lease", l.Lease.ID, "error", err)
	}
	held, release := a.leases.add(hard, &l.Lease, time.Now())
	held.journal = &journal{agent: a, id: l.Lease.ID, log: log, waiting: len(finished)}
	held.finished = finished
	if log.Adoptions >= maxTakenUp {
		held.spent = &refusal{code: returnedDied, text: fmt.Sprintf("the agent has died with the lease %d times", log.Adoptions+1)}
	}
	return leftLease{held, release}, nil
}

// sendFinished sends what was finished of a lease that is not executed any further.
func (w *worker) sendFinished(held *heldLease) (sent int, err error) {
	if len(held.finished) == 0 {
		return 0, nil
	}
	results := make(chan finished, len(held.finished))
	for _, r := range held.finished {
		results <- finished{ShardResult: r}
	}
	close(results)
	r := newReporter(w.agent, held)
	err = r.run(held.alive, results)
	return r.reported, err
}

// finished is a result on its way to the server.
type finished struct {
	client.ShardResult
	// stored says that a large output is with the server already; it is in the journal otherwise.
	stored bool
}

// large says whether the output does not travel with the result.
func (f *finished) large() bool { return f.OutputDigest != "" && f.Output == "" }

// isPause says whether work ended because the owner wants it so.
func isPause(err error) bool {
	var paused *pausedWork
	return errors.As(err, &paused)
}
