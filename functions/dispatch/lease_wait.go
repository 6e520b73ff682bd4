package dispatch

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/dispatch/sql"
	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/functions/store"
)

// hereReported is what an agent's polls in this process hear when it has reported something: it may be lent more then. In others they find
// out a little later.
const hereReported = "reported"

// mostLendable is how far shards are counted that could be lent.
const mostLendable = 64

// tryLease lends the agent what there is for it now; nil: nothing.
func (s *Service) tryLease(ctx context.Context, agent uuid.UUID, poll Poll, idem functions.Idempotency) (*functions.Lease, error) {
	lease, err := s.leaseNow(ctx, agent, poll, idem)
	if errors.Is(err, functions.ErrReplayed) { // a request with the same key was given a lease meanwhile
		return s.leaseAgain(ctx, agent, idem)
	}
	return lease, err
}

// awaitLease tries, and then waits in the lines of its projects until it is called, or something was decided about the agent.
func (s *Service) awaitLease(ctx context.Context, agent uuid.UUID, projects []uuid.UUID, poll Poll, idem functions.Idempotency) (*functions.Lease, error) {
	nudges, stop := s.env.Notices.Subscribe(append(base.Topics(base.ChannelAgents, agent), base.Topics(hereReported, agent)...)...)
	defer stop()
	waiter := s.workLines.Join(agent, projects...)
	defer waiter.Leave()
	if lease, err := s.tryLease(ctx, agent, poll, idem); lease != nil || err != nil {
		return lease, err
	}
	end := time.NewTimer(min(poll.Wait, fleet.MaxLeaseWait))
	defer end.Stop()
	for {
		waiter.Tried()
		decided := false
		again := s.drawnAgain(agent)
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-end.C:
			return nil, nil
		case <-waiter.Turn():
		case <-again:
			waiter.Begin()
		case <-nudges:
			waiter.Begin()
			decided = true
		}
		var lease *functions.Lease
		_, err := s.env.Waits.Try(ctx, func() (_ bool, err error) {
			if decided { // perhaps it may work for other projects now
				me, err := s.fleet.SeeAgent(ctx, agent)
				if err != nil {
					return false, err
				}
				waiter.Move(me.Projects...)
			}
			lease, err = s.tryLease(ctx, agent, poll, idem)
			return false, err
		})
		if lease != nil || err != nil {
			return lease, err
		}
	}
}

// lendable is how many shards of the project could be lent, counted up to mostLendable.
func (s *Service) lendable(ctx context.Context, project uuid.UUID) (n int, err error) {
	err = s.env.Repeatable(ctx, project, func(tx *store.Tx) error {
		n, _, err = store.Value[int](ctx, tx, sql.LendableShards, mostLendable)
		return err
	})
	return n, err
}
