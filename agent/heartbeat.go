package agent

import (
	"context"
	"errors"
	"time"

	"github.com/ostraka/ostraka/client"
)

// idleBeat is how often an agent without work says that it lives. The server counts an agent as there when it was heard of in the
// last minute.
const idleBeat = 20 * time.Second

// maxBeatLeases is how many leases one heartbeat may name, as the server has it.
const maxBeatLeases = 64

// beat says from time to time that the agent lives and works on its leases, and does what the server answers. A beat that fails
// is not repeated: the next one says it all.
func (a *agent) beat(ctx context.Context, stop context.CancelCauseFunc) {
	added := a.leases.signal()
	for last := time.Now(); ; {
		_, due := a.leases.list()
		timer := time.NewTimer(time.Until(last.Add(due)))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-added: // the next beat may be due sooner
			timer.Stop()
			continue
		case <-a.news:
			timer.Stop()
		case <-timer.C:
		}
		last = time.Now()
		if err := a.beatOnce(ctx, stop); err != nil && ctx.Err() == nil {
			if errors.Is(err, errNotActive) {
				stop(err)
				return
			}
			a.outage.note("sending a heartbeat", err) // a key that is not known is the workers' affair: they enrol again
		}
	}
}

func (a *agent) beatOnce(ctx context.Context, stop context.CancelCauseFunc) error {
	ids, _ := a.leases.list()
	sample, _ := a.keeper.last()
	why, since := a.stands.find(time.Now(), a.sides())
	for first := true; first || len(ids) > 0; first = false {
		some := ids[:min(len(ids), maxBeatLeases)]
		ids = ids[len(some):]
		sent := time.Now()
		directives, err := a.server.heartbeat(ctx, client.Heartbeat{
			Leases: some, ShardsDone: a.done.Load(),
			Host: a.hostOf(sample), Idle: why.tell(since), Wishes: a.wishes(),
		})
		if err != nil {
			return err
		}
		a.outage.over()
		a.leases.extended(some, directives.EndedLeases, sent)
		a.stands.ordered(orderOf(directives))
		if directives.Stop {
			a.log.Warn("the server tells this agent to stop")
			stop(errStopped)
		}
	}
	return nil
}
