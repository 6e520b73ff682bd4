package simulate

import (
	"slices"

	"github.com/ostraka/ostraka/functions/verify"
)

// learn adds to the evidence, and takes back what caught agents have given.
func (w *world) learn(v verify.Verdict) {
	if v.Divergence == verify.Unstable {
		w.unsteady++
		w.excuse()
	}
	if v.Hearsay { // it is taken back, and nobody is charged
		for _, vote := range v.Disagree {
			w.catch(w.names[w.byName[vote.Agent]])
		}
	}
	deltas := v.Deltas()
	var charges int64
	for _, d := range deltas {
		charges += d.Failed
	}
	forgiven := charges > 0 && verify.Chance(w.unsteady, w.charges+charges)
	for _, d := range deltas {
		a := w.names[w.byName[d.Agent]]
		e := w.evidence[d.Agent]
		e.Passed += d.Passed
		e.SinceFailure += d.Passed
		e.Vouched += d.Passed
		if d.Failed > 0 && !forgiven {
			e.Failed += d.Failed
			a.charged += d.Failed
			a.lost += e.SinceFailure
			e.SinceFailure = 0
			w.charges++
		}
		w.evidence[d.Agent] = e
		if d.Passed > 0 {
			a.passedAt = a.results
		}
		if d.Failed > 0 {
			w.catch(a)
		}
	}
}

// excuse voids all charges as long as chance explains them: the server itself got
// two answers. Who was caught for nothing else comes back.
func (w *world) excuse() {
	if !verify.Chance(w.unsteady, w.charges) {
		return
	}
	for _, a := range w.names {
		if a.charged == 0 {
			continue
		}
		e := w.evidence[a.name]
		e.Failed -= a.charged
		e.SinceFailure += a.lost
		a.charged, a.lost = 0, 0
		w.evidence[a.name] = e
		if standing, _ := verify.StandingOf(e); a.quarantined && standing == verify.Active {
			a.gone, a.quarantined = false, false
			w.slots = append(w.slots, a)
		}
	}
}

// weighClaims counts what an accepted answer says about attempts that ended
// without one. Who makes too many of them gets no more leases of the job.
func (w *world) weighClaims(n int32, v verify.Verdict) {
	if v.Decision != verify.Accept || v.Divergence != "" {
		return
	}
	votes := w.history[n]
	for i := range votes {
		a := votes[i].agent
		if votes[i].answer != timeout || votes[i].void || votes[i].counted {
			continue
		}
		votes[i].counted = true
		a.owner.unconfirmed++
		if !a.gone && verify.Unconfirmed(a.owner.unconfirmed, a.owner.brought) {
			a.gone = true
			w.cell.Excluded++
			at := slices.Index(w.slots, a)
			w.slots = slices.Delete(w.slots, at, at+1)
		}
	}
}

// hold says whether an agent keeps a shard that it leases, to report it
// together with others.
func (w *world) hold(n int32, a *agent) bool {
	if !w.pop.holds || a.fair || w.policy.TargetError == 0 || len(w.history[n]) > 0 {
		return false
	}
	a.held = append(a.held, n)
	loan := verify.Loan{First: verify.FirstLoan, Agents: 1, Held: int64(len(a.held)), Credit: a.owner.credit}
	if loan.Free() == 0 || len(a.held)+len(a.waiting) >= w.bound.Window {
		w.flood(a)
	}
	return true
}

// flood reports all that an agent has held: what is audited of it at once is
// audited when everything is in.
func (w *world) flood(a *agent) {
	held := a.held
	a.held = nil
	w.flooding = a
	for i, n := range held {
		if a.gone { // its leases are taken back
			w.open = append(w.open, held[i:]...)
			break
		}
		w.execute(n, a)
		if v := w.decide(n, w.means, nil); v.Decision == verify.Replicate {
			w.again(n, w.means)
		} else {
			w.carryOut(n, v)
		}
	}
	a.owner.credit = verify.CreditAfter(a.owner.credit, int64(len(held)), 0, verify.FirstLoan)
	postponed := w.postponed
	w.flooding, w.postponed = nil, nil
	for _, n := range postponed {
		w.audit(n, a, 0)
		w.drop(a, n)
	}
	w.closeFull(a)
}

// floodAll has everybody report what it still holds, when nothing else is left. It
// says whether there was anything.
func (w *world) floodAll() bool {
	held := false
	for _, a := range slices.Clone(w.slots) {
		if len(a.held) > 0 {
			w.flood(a)
			held = true
		}
	}
	return held
}

func (w *world) catch(a *agent) {
	if a.caught < 0 {
		a.caught = a.results
		if a.fair {
			w.cell.FalselyTainted++
		}
	}
	if w.policy.TargetError != 0 && verify.Tainted(verify.Failed, "").Reopen {
		w.reopen(a)
	}
	standing, _ := verify.StandingOf(w.evidence[a.name])
	returns := w.pop.returning && !a.fair
	if a.gone || (standing != verify.Caught && !returns) {
		return
	}
	a.gone = true
	w.open = append(w.open, a.held...)
	a.held = nil
	a.quarantined = standing == verify.Caught
	i := slices.Index(w.slots, a)
	if returns {
		w.slots[i] = w.join(a.slot, true)
		return
	}
	w.slots = slices.Delete(w.slots, i, i+1)
}
