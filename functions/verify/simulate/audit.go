package simulate

import (
	"slices"

	"github.com/ostraka/ostraka/functions/verify"
)

// The job that is simulated, as draws name it.
const job = "job"

// wait has a provisional result wait for its window, or audits it at once.
func (w *world) wait(n int32, a *agent) {
	w.shards[n].awaits = a.window
	rate := w.bound.Rate(w.evidence[a.name], w.means)
	a.waiting = append(a.waiting, n)
	a.owner.given++
	w.given++
	if a.draws.Draw(int64(n), verify.RateOf(rate)) {
		if w.flooding == a { // it is among the next
			w.postponed = append(w.postponed, n)
			return
		}
		w.audit(n, a, 0)
		w.drop(a, n)
	}
	if w.flooding != a {
		w.closeFull(a)
	}
}

// closeFull closes an agent's window when it is full.
func (w *world) closeFull(a *agent) {
	if len(a.waiting) >= w.bound.Window {
		w.close(w.rest().Close(w.pool(a), w.means))
	}
}

// rest is the bound that windows keep which are closed by themselves.
func (w *world) rest() verify.Bound { return w.together.Rest(w.bound) }

// pool is the window of an agent, and what its owner has given so far.
func (w *world) pool(a *agent) verify.Pool {
	return verify.Pool{Agent: a.name, Results: len(a.waiting), Owner: w.shareOf(a)}
}

func (w *world) shareOf(a *agent) verify.Owner {
	return verify.Owner{Results: a.owner.given, All: w.given, Spent: a.owner.spent, Shards: int64(len(w.shards))}
}

// drop takes a result that is final by itself out of its window.
func (w *world) drop(a *agent, n int32) {
	if i := slices.Index(a.waiting, n); i >= 0 && w.shards[n].final != 0 {
		a.waiting = slices.Delete(a.waiting, i, i+1)
	}
}

// tail closes the windows that are left when no shard is open. It says whether
// there were any.
func (w *world) tail() bool {
	closed := w.closeTogether()
	for _, a := range w.names {
		if a.waiting = w.provisional(a, a.waiting); len(a.waiting) > 0 {
			w.close(w.rest().Close(w.pool(a), w.means)) // one after the other: an owner's next window knows what this one has spent
			closed = true
		}
	}
	return closed
}

// provisional keeps those of an agent's results that are not final.
func (w *world) provisional(a *agent, shards []int32) []int32 {
	me := w.byName[a.name]
	return slices.DeleteFunc(shards, func(n int32) bool { return w.shards[n].agent != me || w.shards[n].final != 0 })
}

// close audits a window, and makes its results final when all audits pass.
func (w *world) close(c verify.Closing) {
	a := w.names[w.byName[c.Agent]]
	a.closing, a.waiting = w.provisional(a, a.waiting), nil
	window := a.window
	a.window++
	w.drawn = true
	a.owner.spent += c.Risk
	before := a.tainted
	for _, n := range w.chosen(a, window, c) {
		w.audit(n, a, c.Voices)
	}
	if a.tainted != before {
		return
	}
	for _, n := range w.provisional(a, a.closing) {
		if c.Voices == 0 && verify.Final(w.shards[n].awaits, window) {
			w.finish(n)
			a.final = append(a.final, n)
		}
	}
	a.closing = nil
}

func (w *world) chosen(a *agent, window int64, c verify.Closing) []int32 {
	if c.Voices > 0 {
		return slices.Clone(a.closing)
	}
	pool := make([]int64, len(a.closing))
	for i, n := range a.closing {
		pool[i] = int64(n)
	}
	var chosen []int32
	for _, n := range verify.Choose(w.secret, job, a.name, window, pool, c.Audits) {
		chosen = append(chosen, int32(n))
	}
	return chosen
}

// audit has the server or another agent execute a shard too. With voices it is
// lent until so many agree, and until they make it credible.
func (w *world) audit(n int32, a *agent, voices int) {
	if s := w.shards[n]; s.final != 0 || s.agent != w.byName[a.name] {
		return // it was settled, or taken back, meanwhile
	}
	var server []answer
	m := w.means
	if m.Recheck {
		server = w.recheck(n, server)
	} else {
		m.Support = max(voices, w.bound.Voices) // as the server has it
	}
	v := w.further(n, m, server)
	if (v.Provisional || v.Hearsay) && slices.ContainsFunc(v.Agree, func(x verify.Vote) bool { return x.Agent == a.name }) {
		e := w.evidence[a.name]
		e.Passed++
		e.SinceFailure++
		w.evidence[a.name] = e
		a.passedAt = a.results
	}
}

// reopen takes back what an agent has given, what is final included, but for
// what the server gave as well: the job still runs.
func (w *world) reopen(a *agent) {
	w.now++
	a.tainted = w.now
	taken := append(w.provisional(a, a.closing), w.provisional(a, a.waiting)...)
	for _, n := range a.final {
		if s := w.shards[n]; s.agent == w.byName[a.name] && s.final != 0 && !s.proven {
			taken = append(taken, n)
		}
	}
	a.closing, a.waiting, a.final = nil, nil, nil
	a.window++
	for _, n := range taken {
		votes := w.history[n]
		for i := range votes {
			if votes[i].agent == a {
				votes[i].void = true
			}
		}
		w.shards[n] = shard{agent: -1}
		w.open = append(w.open, n)
		w.cell.Reopened++
	}
}
