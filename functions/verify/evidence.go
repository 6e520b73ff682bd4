package verify

import (
	"cmp"
	"slices"
)

// MinSupport is the number of independent agents that must agree before their
// answer is evidence for or against anyone. An answer that one hand alone gave
// has been believed, not checked.
const MinSupport = 2

// Deltas returns how the evidence of the agents changes when the verdict is
// carried out, in the order of agents: one passed check for those who agree,
// one failed check for those who gave another answer. Only a final answer with
// at least MinSupport voices, or the server's own, is evidence. Exceptions are
// evidence only where the server has shown them to be wrong; time-outs and the
// like never are: honest machines differ in them.
func (v Verdict) Deltas() []Delta {
	switch {
	case v.Provisional || v.Hearsay || v.Divergence != "":
		return nil
	case !v.Proven && (v.Decision != Accept || v.Voices < MinSupport):
		return nil
	}
	deltas := make([]Delta, 0, len(v.Agree)+len(v.Disagree))
	for _, vote := range v.Agree {
		deltas = append(deltas, Delta{Agent: vote.Agent, Passed: 1})
	}
	for _, vote := range v.Disagree {
		deltas = append(deltas, Delta{Agent: vote.Agent, Failed: 1})
	}
	slices.SortFunc(deltas, func(a, b Delta) int { return cmp.Compare(a.Agent, b.Agent) })
	return deltas
}

// Accusers are those of the agents that gave an accepted answer who may speak
// against one that came late: where results are audited those that are Known, or all
// where the server is one of them.
func Accusers(p Policy, support []Attempt, evidence map[string]Evidence) []Attempt {
	if p.TargetError == 0 || slices.ContainsFunc(support, func(a Attempt) bool { return a.Server }) {
		return support
	}
	return known(support, evidence)
}

// Accepted is the answer that a shard was given.
type Accepted struct {
	Digest string
	// Support is the number of independent agents that gave it: Verdict.Voices.
	Support int
}

// Late judges a result that arrives after its shard was accepted. The shard
// does not change, but the result still says something about its agent: the
// delta is what to add to the agent's evidence (it may be zero).
// contradiction is true when the result is an answer that differs, which
// deserves a flag even where the accepted answer has too little support to
// prove who is wrong. Call it once for each attempt.
func Late(accepted Accepted, a Attempt) (delta Delta, contradiction bool) {
	delta.Agent = a.Agent
	if a.State != Reported || a.Status != OK || a.Digest == "" {
		return delta, false
	}
	contradiction = a.Digest != accepted.Digest
	if accepted.Support < MinSupport {
		return delta, contradiction
	}
	if contradiction {
		delta.Failed = 1
	} else {
		delta.Passed = 1
	}
	return delta, contradiction
}
