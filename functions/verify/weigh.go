package verify

import (
	"slices"
)

// weigh decides with a target error: a single answer is accepted provisionally;
// answers that differ, and exceptions, are settled by the server where it can,
// else by as many independent agents as make one of them credible.
func (b *ballot) weigh(p Policy, evidence map[string]Evidence, m Means) Verdict {
	bound := Derive(p)
	if len(b.groups) == 0 {
		return b.silence(p, m)
	}
	lead, rivals := b.groups[0], b.groups[1:]
	missing := bound.missing(lead, rivals)
	alone := len(rivals) == 0 && lead.status == OK
	switch {
	case missing == 0:
		b.explain(ReasonCredible, "%d independent agents agree on %s: it is wrong with a probability of at most %.2g", lead.voices, lead, bound.doubt(lead, rivals))
		v := b.settleFor(lead, m.Holder)
		v.Hearsay = voices(known(lead.votes, evidence), evidence) < MinSupport
		return v
	case alone && lead.voices >= m.Support:
		b.explain(ReasonProvisional, "the only answer is accepted provisionally: it is final when audits of its agent's results have passed")
		v := b.settleFor(lead, m.Holder)
		v.Provisional = true
		return v
	case alone:
		b.explain(ReasonShort, "%d of %d independent agents agree", lead.voices, m.Support)
		return b.ask(p, m.Support-lead.voices)
	case m.Recheck:
		b.explain(ReasonRecheck, "the server is to execute it: %s", b.why())
		return b.verdict(Recheck, lead)
	case b.splitByPlatform(evidence):
		b.explain(ReasonPlatform, "agents of different owners agree on each platform, and the platforms differ")
		v := b.verdict(Review, lead)
		v.Divergence = Platform
		return v
	}
	b.explain(ReasonShort, "%s", b.why())
	return b.ask(p, missing)
}

// known keeps the votes of agents that are Known.
func known(votes []Attempt, evidence map[string]Evidence) []Attempt {
	return slices.DeleteFunc(slices.Clone(votes), func(a Attempt) bool { return !evidence[a.Agent].Known() })
}

// settleFor takes a group's answer; the agent that holds the shard keeps it.
func (b *ballot) settleFor(g group, holder string) Verdict {
	v := b.settle(g)
	for _, vote := range v.Agree {
		if vote.Agent == holder {
			v.Canonical = vote.Attempt
		}
	}
	return v
}

func (b *ballot) why() string {
	if len(b.groups) > 1 {
		return "answers differ"
	}
	return "an agent says that the function raised an exception"
}

// recheckAll wants one agent's answer and the server's.
func (b *ballot) recheckAll(p Policy, m Means) Verdict {
	if len(b.groups) > 0 {
		b.explain(ReasonRecheck, "the server is to execute every shard")
		return b.verdict(Recheck, b.groups[0])
	}
	if len(b.failures) > 0 && m.Recheck && !b.exhausted {
		b.explain(ReasonRecheck, "the server is to execute every shard: an attempt ended with %s", b.failures[0].Status)
		return b.verdict(Recheck, group{})
	}
	return b.silence(p, m)
}

// silence decides about a shard that nobody has answered. Before it fails the
// server executes it once, where it can: to say that one has run out of time
// costs nothing, and must not be enough to fail the jobs of others.
func (b *ballot) silence(p Policy, m Means) Verdict {
	switch {
	case !b.hopeless(p):
		b.explain(ReasonShort, "no answer yet")
		return b.ask(p, 1)
	case m.Recheck && !b.exhausted:
		b.explain(ReasonRecheck, "the server is to execute it: %d attempts failed without any output", len(b.failures))
		return b.verdict(Recheck, group{})
	}
	return b.giveUp(p)
}

// believeServer takes the server's answer. Before anybody is contradicted by it
// the server must have given it so often that it is no accident (see
// runsToAccuse): a function that does not give one answer accuses nobody.
func (b *ballot) believeServer(m Means, evidence map[string]Evidence) Verdict {
	reference := group{status: b.server[0].Status, digest: b.server[0].Digest}
	lead, _ := b.leader()
	for _, again := range b.server[1:] {
		if again.Status != reference.status || again.Digest != reference.digest {
			b.explain(ReasonUnstable, "the server got %s, and then %s: the function does not give one answer, and nobody is to blame",
				reference, group{status: again.Status, digest: again.Digest})
			v := b.verdict(Review, lead)
			v.Divergence = Unstable
			return v
		}
	}
	var opposed []group
	for _, g := range b.groups {
		if g.status == reference.status && g.digest == reference.digest {
			reference.votes, reference.voices = g.votes, g.voices
		} else {
			opposed = append(opposed, g)
		}
	}
	if len(opposed) > 0 && len(b.server) < b.runsToAccuse(opposed, evidence, m) {
		b.explain(ReasonRecheck, "an agent contradicts the server, which is to execute it again before anybody is blamed")
		return b.verdict(Recheck, lead)
	}
	b.explain(ReasonServer, "the server's own answer is %s", reference)
	v := b.settleAs(reference, m.Holder)
	v.Proven = true
	for _, g := range opposed {
		if g.status == Error {
			b.oppose(&v, g)
		}
		if g.isPlatform(reference, b.server[0].Class, evidence) {
			b.explain(ReasonPlatform, "agents of different owners on the platform %s, who were right elsewhere, agree on %s: the platforms differ, and nobody is to blame", g.votes[0].Class, g)
			v.Divergence = Platform
			v.Excused = append(v.Excused, votesOf(g.votes)...)
		}
	}
	v.Reasons = b.reasons
	return v
}

// settleAs settles an answer that perhaps no agent gave.
func (b *ballot) settleAs(g group, holder string) Verdict {
	if len(g.votes) > 0 {
		return b.settleFor(g, holder)
	}
	own := g
	own.votes = b.server[:1]
	v := b.settle(own)
	v.Agree = nil
	return v
}

// oppose adds the votes of a group to those that disagree.
func (b *ballot) oppose(v *Verdict, g group) {
	for _, a := range g.votes {
		b.explain(ReasonDiffers, "agent %s differs: %s", a.Agent, g)
		v.Disagree = append(v.Disagree, Vote{Attempt: a.ID, Agent: a.Agent})
	}
}
