package simulate

import (
	"github.com/ostraka/ostraka/functions/verify"
)

// member is one of the windows that are closed together.
type member struct {
	*agent
	window  int64
	results int
	before  int // the moment of its agent's last taint
}

// closeTogether audits the same share of each window that is left of agents with a
// record, where that is cheaper. It says whether it did. All of them are final when
// nobody is caught; otherwise each takes the audits that are missing.
func (w *world) closeTogether() bool {
	if w.drawn {
		return false
	}
	var members []member
	var known, others []int
	for _, a := range w.names {
		a.waiting = w.provisional(a, a.waiting)
		switch n := len(a.waiting); {
		case n == 0:
		case w.evidence[a.name].OnProbation():
			others = append(others, n)
		default:
			members = append(members, member{agent: a, window: a.window, results: n, before: a.tainted})
			known = append(known, n)
		}
	}
	way, ok := w.bound.Together(known, others, w.means)
	if !ok {
		return false
	}
	w.together, w.drawn = way, true
	for _, m := range members {
		m.closing, m.waiting = m.waiting, nil
		m.agent.window++
	}
	for _, m := range members {
		w.auditSome(m, way.Audits(m.results))
	}
	for _, m := range members {
		if m.tainted != m.before {
			w.closeApart(members, way)
			return true
		}
	}
	for _, m := range members {
		w.pass(m)
	}
	return true
}

// closeApart closes by themselves windows of which some audits have passed.
func (w *world) closeApart(members []member, way verify.Together) {
	for _, m := range members {
		if m.tainted != m.before {
			continue
		}
		missing, risk := way.Missing(w.bound, m.results, way.Audits(m.results), w.shareOf(m.agent), w.means)
		m.owner.spent += risk
		if w.auditSome(m, missing); m.tainted == m.before {
			w.pass(m)
		}
	}
}

// auditSome audits so many results of a window that is closed.
func (w *world) auditSome(m member, audits int) {
	m.closing = w.provisional(m.agent, m.closing)
	for _, n := range w.chosen(m.agent, m.window, verify.Closing{Audits: audits}) {
		w.audit(n, m.agent, 0)
	}
}

// pass makes the results of a window final.
func (w *world) pass(m member) {
	for _, n := range w.provisional(m.agent, m.closing) {
		if verify.Final(w.shards[n].awaits, m.window) {
			w.finish(n)
			m.final = append(m.final, n)
		}
	}
	m.closing = nil
}
