package verify

import (
	"fmt"
	"slices"
)

// Decide judges a shard that is open or accepted provisionally. attempts are
// all attempts at it whose lease holds or whose result is in; evidence is what
// is known about their agents, and an agent without evidence is new.
//
// Answers (status ok or error, with a digest) are votes, one for each agent
// that is not caught; agents that may come from one hand have one voice together
// (see voices). With a quorum an answer wins when it has so many voices and no
// other answer has as many: ok is accepted, error fails the shard. Other
// failures are retried on other agents; when Policy.FailureLimit independent
// attempts have failed and no agent has returned an output, the shard fails:
// what fails on the machines of one owner says something about these; with a
// target error and with recheck = "all" the server executes it before. Where answers
// differ more agents are asked, up to the policy's number of attempts, then a
// person. What a target error asks for is told at Bound; an answer of the server
// decides under every policy.
//
// Every attempt counts towards that number, those of caught agents too: a crowd
// of cheats can bring a shard to review, but never keep it going forever.
//
// A policy that is not valid leads to review, never to an answer.
func Decide(p Policy, attempts []Attempt, evidence map[string]Evidence, m Means) Verdict {
	if err := p.Validate(); err != nil {
		return Verdict{Decision: Review, Reasons: []Reason{{Code: ReasonPolicy, Text: err.Error()}}}
	}
	b := castBallot(attempts, evidence)
	switch {
	case len(b.server) > 0:
		return b.believeServer(m, evidence)
	case b.confirmed():
		return b.confirm()
	case p.None:
		return b.believe(p)
	case p.Recheck != "":
		return b.recheckAll(p, m)
	case p.TargetError != 0:
		return b.weigh(p, evidence, m)
	}
	return b.count(p)
}

// count decides by a quorum.
func (b *ballot) count(p Policy) Verdict {
	lead, second := b.leader()
	switch {
	case lead.voices >= p.Quorum && lead.voices > second:
		b.explain(ReasonAgreed, "%d agents agree on %s, and %d must", lead.voices, lead, p.Quorum)
		return b.settle(lead)
	case b.hopeless(p):
		return b.giveUp(p)
	case lead.voices >= p.Quorum:
		b.explain(ReasonTied, "two answers have %d voices each", lead.voices)
		return b.ask(p, 1)
	default:
		b.explain(ReasonShort, "%d of %d agents agree", lead.voices, p.Quorum)
		return b.ask(p, p.Quorum-lead.voices)
	}
}

// hopeless says whether so many attempts have failed that it is the function.
func (b *ballot) hopeless(p Policy) bool { return !b.answered() && b.failed(p) >= p.FailureLimit() }

// failed counts the failures that speak against the function: those of one hand
// once, where the policy keeps hands apart.
func (b *ballot) failed(p Policy) int {
	if p.Independent() {
		return b.failing
	}
	return len(b.failures)
}

// confirmed says whether the server's attempt ended as an agent's did, and nobody
// has an answer: it is the function then, and no disagreement.
func (b *ballot) confirmed() bool {
	return len(b.groups) == 0 && slices.ContainsFunc(b.failures, func(a Attempt) bool { return a.Status == b.ended })
}

// confirm fails the shard with what the server has confirmed.
func (b *ballot) confirm() Verdict {
	same := slices.DeleteFunc(slices.Clone(b.failures), func(a Attempt) bool { return a.Status != b.ended })
	b.explain(ReasonFailures, "%d attempts of agents ended with %s, and the server's did as well", len(same), b.ended)
	v := b.verdict(Fail, group{votes: same})
	v.Status, v.Canonical = b.ended, same[0].ID
	return v
}

// believe decides without verification: the first output is accepted, one
// exception is believed, and so is one limit that was passed; what may be the
// machine's is tried again.
func (b *ballot) believe(p Policy) Verdict {
	if first, ok := b.first(OK); ok {
		b.explain(ReasonUnverified, "the first result is accepted without verification")
		return b.settle(first)
	}
	if first, ok := b.first(Error); ok {
		b.explain(ReasonUnverified, "the first exception is believed without verification")
		return b.settle(first)
	}
	limited := slices.DeleteFunc(slices.Clone(b.failures), func(a Attempt) bool { return !a.Status.IsLimit() })
	if len(limited) > 0 {
		b.explain(ReasonUnverified, "that an attempt ended with %s is believed without verification", limited[0].Status)
		v := b.verdict(Fail, group{votes: limited[:1]})
		v.Status, v.Canonical = limited[0].Status, limited[0].ID
		return v
	}
	if b.failed(p) >= p.FailureLimit() {
		return b.giveUp(p)
	}
	b.explain(ReasonShort, "no result yet")
	return b.ask(p, 1)
}

// first returns the group of the lowest attempt ID with this status.
func (b *ballot) first(status Status) (found group, ok bool) {
	for _, g := range b.groups {
		if g.status == status && (!ok || compareAttempts(g.votes[0], found.votes[0]) < 0) {
			found, ok = g, true
		}
	}
	return found, ok
}

// settle takes a group's answer as the shard's.
func (b *ballot) settle(g group) Verdict {
	decision := Accept
	if g.status == Error {
		decision = Fail
	}
	v := b.verdict(decision, g)
	v.Status, v.Digest, v.Canonical = g.status, g.digest, g.votes[0].ID
	return v
}

// giveUp fails a shard that nobody has answered.
func (b *ballot) giveUp(p Policy) Verdict {
	same := b.dominating()
	b.explain(ReasonFailures, "%d attempts failed without any output (%d of them: %s), and %d are enough",
		len(b.failures), len(same), same[0].Status, p.FailureLimit())
	v := b.verdict(Fail, group{votes: same})
	v.Status, v.Canonical = same[0].Status, same[0].ID
	return v
}

// ask wants the votes that are missing: by lending further attempts as far as
// the policy allows, by waiting for those that are out, or from a person.
func (b *ballot) ask(p Policy, missing int) Verdict {
	lead, _ := b.leader()
	if n := len(b.failures); n > 0 {
		b.explain(ReasonFailures, "%d attempts failed without an output", n)
	}
	wanted := min(missing-b.outstanding, p.maxAttempts()-b.total)
	switch {
	case wanted > 0:
		v := b.verdict(Replicate, lead)
		v.Wanted = wanted
		return v
	case b.outstanding > 0:
		return b.verdict(Wait, lead)
	default:
		b.explain(ReasonMaxAttempts, "all %d attempts are used up", p.maxAttempts())
		return b.verdict(Review, lead)
	}
}

// verdict lists who agrees with an answer and which outputs differ from it.
func (b *ballot) verdict(decision Decision, g group) Verdict {
	v := Verdict{Decision: decision, Agree: votesOf(g.votes), Voices: g.voices}
	for _, other := range b.groups {
		if other.status != OK || len(other.votes) == 0 || (other.status == g.status && other.digest == g.digest) {
			continue
		}
		for _, a := range other.votes {
			b.explain(ReasonDiffers, "agent %s differs: %s", a.Agent, other)
			v.Disagree = append(v.Disagree, Vote{Attempt: a.ID, Agent: a.Agent})
		}
	}
	v.Reasons = slices.Clip(b.reasons)
	return v
}

func votesOf(attempts []Attempt) []Vote {
	if len(attempts) == 0 {
		return nil
	}
	votes := make([]Vote, 0, len(attempts))
	for _, a := range attempts {
		votes = append(votes, Vote{Attempt: a.ID, Agent: a.Agent})
	}
	return votes
}

// String names an answer in a reason: enough of the digest to tell it apart.
func (g group) String() string {
	const shown = 12
	digest := g.digest
	if len(digest) > shown {
		digest = digest[:shown] + "…"
	}
	if g.status == OK {
		return digest
	}
	return fmt.Sprintf("%s %s", g.status, digest)
}
