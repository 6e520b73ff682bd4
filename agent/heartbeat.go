package agent

import (
	"context"
	"time"

	"github.com/ostraka/ostraka/client"
)

// idleBeat is how often an agent without work says that it lives. The server counts an agent as there when it was heard of in the
// last minute.
const idleBeat = 20 * time.Second

// maxBeatLeases is how many leases one heartbeat may name, as the server has it.
const maxBeatLeases = 64

// farewellLimit is how long an agent that stops tries to say so.
const farewellLimit = time.Second

// hurriedBeat is how soon after the last beat there may be another one that is not due yet.
const hurriedBeat = time.Second

// beat says from time to time that the agent lives and works on its leases, and does what the server answers. A beat that fails
// is not repeated: the next one says it all.
func (a *agent) beat(ctx context.Context, stop context.CancelCauseFunc) {
	added := a.leases.signal()
	soon := false // somebody should hear of a sandbox before the next beat is due
	for last := time.Now(); ; {
		_, due := a.leases.list()
		if soon {
			due = min(due, hurriedBeat)
		}
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
		case <-a.boxes.hurry:
			timer.Stop()
			soon = true
			continue
		case <-timer.C:
		}
		last, soon = time.Now(), false
		if err := a.beatOnce(ctx, stop); err != nil && ctx.Err() == nil {
			if a.outOfPlace(err) {
				stop(err)
				return
			}
			a.outage.note("sending a heartbeat", err) // a key that is not known is the workers' affair: they enrol again
		}
	}
}

// farewell tells the server that the agent stops and that its sandboxes have ended: nothing waits for it to confirm anything. An agent
// that cannot say so is missed a minute later.
func (a *agent) farewell(ctx context.Context, stop context.CancelCauseFunc) {
	ctx, cancel := context.WithTimeout(ctx, farewellLimit)
	defer cancel()
	if err := a.beatOnce(ctx, stop); err != nil {
		a.log.Debug("the server was not told that the agent stops", "error", err)
	}
}

// heed does what the server says about the agent as a whole.
func (a *agent) heed(ctx context.Context, d client.Directives) error {
	if d.Eula != nil {
		settled, err := a.settleAgreement(ctx, *d.Eula)
		if err != nil {
			return err
		}
		if settled {
			d.Eula = nil
		}
	}
	if d.Duplicate != nil && a.warned.Swap(d.Duplicate.At.UnixMicro()) != d.Duplicate.At.UnixMicro() {
		a.log.Warn("another machine uses a copy of this agent's key and is refused: give it a data directory of its own, or revoke the agent if the copy is not yours",
			"at", d.Duplicate.At, "address", d.Duplicate.Address)
	}
	a.stands.ordered(a.orderOf(d), heldBy(d.Switches))
	return nil
}

func (a *agent) beatOnce(ctx context.Context, stop context.CancelCauseFunc) error {
	ids, _ := a.leases.list()
	sample, _ := a.keeper.last()
	why, since := a.stands.find(time.Now(), a.sides())
	boxes, undo := a.boxes.reports()
	carriedOut := a.carriedOut()
	for first := true; first || len(ids) > 0 || len(boxes) > 0; first = false {
		some := ids[:min(len(ids), maxBeatLeases)]
		ids = ids[len(some):]
		var inside []client.SandboxReport
		if len(boxes) > 0 {
			inside, boxes = boxes[0], boxes[1:]
		}
		sent := time.Now()
		directives, err := a.server.heartbeat(ctx, client.Heartbeat{
			Leases: some, ShardsDone: a.done.Load(), Sandboxes: inside, CarriedOut: carriedOut,
			Host: a.hostOf(sample), Idle: why.tell(since), Wishes: a.wishes(),
		})
		if err != nil {
			undo()
			return err
		}
		a.outage.over()
		if carriedOut != "" && directives.Revision == carriedOut {
			a.orders.confirm(carriedOut)
		}
		a.follow(&directives)
		a.witnesses.show(directives.Logs)
		a.leases.extended(some, directives.EndedLeases, sent)
		if err := a.heed(ctx, directives); err != nil {
			return err
		}
		if directives.Stop {
			a.log.Warn("the server tells this agent to stop")
			stop(errStopped)
		}
	}
	return nil
}
