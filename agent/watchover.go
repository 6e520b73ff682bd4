package agent

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/runtime/tree"
)

// watchOver keeps to the preferences, says why the agent is idle, and writes its status, until the context ends.
func (a *agent) watchOver(ctx context.Context) {
	var last reporting
	said := ""
	a.shareDisk()
	a.keeper.run(ctx, func(slept time.Duration) {
		if slept > 0 {
			a.log.Warn("the machine has slept, or the agent was stopped: asking the server which leases still count", "for", slept.Round(time.Second))
			a.hurry()
		}
		a.shareDisk()
		why, since := a.stands.find(time.Now(), a.sides())
		if why.Code != said {
			said = why.Code
			a.hurry()
		}
		a.tell(&last, why, since)
	})
	a.tell(&last, idle{IdleStopping, "the agent has stopped"}, time.Now())
}

// shareDisk gives everything but what runs its share of the disk: see shares.
func (a *agent) shareDisk() {
	p := a.keeper.current()
	s := sharesOf(p.DiskBytes)
	a.bundles.owner.Store(s.bundles)
	a.inputs.owner.Store(lowerCap(cmp.Or(p.InputsBytes, a.inputs.max), s.inputs))
	a.spool.Limit(lowerCap(a.options.SpoolBytes, s.results))
	a.trees.Limit(lowerCap(tree.DefaultCacheBytes, s.runtimes))
}

// hurry has a heartbeat sent at once.
func (a *agent) hurry() {
	select {
	case a.news <- struct{}{}:
	default:
	}
}

// sides are what decides besides the server whether the agent works.
func (a *agent) sides() sides {
	away, why := a.outage.lasts()
	owner, finishes := a.keeper.rests()
	return sides{working: a.leases.fresh(), away: away, awayWhy: why, owner: owner, finishes: finishes}
}

// tell is what the server is told; nothing when the agent works.
func (why idle) tell(since time.Time) *client.Idle {
	if why.Code == "" {
		return nil
	}
	return &client.Idle{Code: why.Code, Text: cutText(why.Text, maxRefusalText), Seconds: max(0, int64(time.Since(since)/time.Second))}
}

// orderOf is why the server, or its operator, keeps the agent from work.
func (a *agent) orderOf(d client.Directives) idle {
	because := ""
	if d.Reason != "" {
		because = ": " + d.Reason
	}
	switch d.State {
	case client.DirectivesStatePending:
		return idle{IdlePending, "the agent waits until an operator of the server, or a project's token, approves it" + because}
	case client.DirectivesStateDraining:
		return idle{IdleDrained, "an operator has the agent take no more work" + because}
	case client.DirectivesStateQuarantined:
		return idle{IdleQuarantined, "an operator has put the agent under quarantine" + because}
	case client.DirectivesStateRevoked:
		return idle{IdleRevoked, "the agent was revoked" + because}
	case client.DirectivesStateActive:
	}
	for _, k := range d.Switches {
		if k.Scope == client.KillOrderScopeEverything {
			return idle{IdleKilled, "the killswitch is on: nothing runs until an operator puts it off"}
		}
	}
	if d.Eula != nil {
		return waitsForAgreement(d.Eula.Version, a.dir.path)
	}
	return idle{}
}

// heldBy says that a switch holds some of the work: the rest may continue, so that it only explains why there is none.
func heldBy(switches []client.KillOrder) idle {
	if len(switches) == 0 {
		return idle{}
	}
	k := switches[0]
	what := "the project"
	if k.Scope == client.KillOrderScopeFunction {
		what = "the function " + k.Function
	}
	if k.Project != nil && k.Scope == client.KillOrderScopeFunction {
		what += " of the project"
	}
	if k.Project != nil {
		what += " " + k.Project.String()
	}
	more := ""
	if n := len(switches) - 1; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return idle{IdleKilled, "the killswitch is on for " + what + more + ": none of that work is lent, and the server has no other for this agent"}
}
