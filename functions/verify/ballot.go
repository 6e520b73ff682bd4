package verify

import (
	"cmp"
	"fmt"
	"slices"
)

// ballot is what remains of a shard's attempts once each agent has one voice
// and caught agents have none.
type ballot struct {
	groups      []group   // equal answers, the largest group first
	failures    []Attempt // reported without an output, errors included
	server      []Attempt // the server's own answers, by ID
	exhausted   bool      // the server has tried, and has no answer
	ended       Status    // how its attempt ended then
	failing     int       // how many of the failures are independent
	outstanding int       // attempts that may still bring a vote
	total       int       // all attempts, whatever became of them
	reasons     []Reason
}

// group is the agents that gave one answer.
type group struct {
	status Status
	digest string
	votes  []Attempt // by ID
	voices int       // how many of them are independent
}

func castBallot(attempts []Attempt, evidence map[string]Evidence) ballot {
	b := ballot{total: len(attempts)}
	for _, a := range b.speakers(attempts) {
		if a.Agent != "" && !a.Server && b.isCaught(a.Agent, evidence) {
			continue
		}
		switch {
		case a.Server && a.State == Reported && isAnswer(a):
			b.server = append(b.server, a)
		case a.State == Leased:
			b.outstanding++
		case a.Status == OK && a.Digest != "":
			b.vote(a)
		case a.Status == Error && a.Digest != "":
			b.vote(a)
			b.failures = append(b.failures, a)
		case isFailure(a.Status) && a.Server:
			b.exhausted, b.ended = true, a.Status
		case isFailure(a.Status):
			b.failures = append(b.failures, a)
		default:
			b.explain(ReasonUnusable, "the result of agent %s has no digest or an unknown status, so it does not count", a.Agent)
		}
	}
	b.failing = voices(b.failures, evidence)
	b.rank(evidence)
	return b
}

func isAnswer(a Attempt) bool { return (a.Status == OK || a.Status == Error) && a.Digest != "" }

func isFailure(s Status) bool {
	return s != OK && slices.Contains(Statuses(), s)
}

// speakers picks the attempt that speaks for each agent, ordered by ID: its
// first result, or while it has none its first lease. The server speaks each
// time.
func (b *ballot) speakers(attempts []Attempt) []Attempt {
	ordered := slices.Clone(attempts)
	slices.SortFunc(ordered, compareAttempts)
	speakers := make([]Attempt, 0, len(ordered))
	var silent []string // agents whose results were taken back
	for _, state := range []State{Reported, Leased} {
		for _, a := range ordered {
			heard := func(s Attempt) bool { return !s.Server && s.Agent == a.Agent }
			switch {
			case a.State != state:
			case a.Server:
				speakers = append(speakers, a)
			case a.Void && a.State == Reported:
				silent = append(silent, a.Agent)
				b.explain(ReasonVoid, "the result of agent %s was taken back when it was caught", a.Agent)
			case a.Agent != "" && (slices.ContainsFunc(speakers, heard) || slices.Contains(silent, a.Agent)):
				b.explain(ReasonRepeated, "a further attempt of agent %s does not count", a.Agent)
			default:
				speakers = append(speakers, a)
			}
		}
	}
	slices.SortFunc(speakers, compareAttempts)
	return speakers
}

func (b *ballot) isCaught(agent string, evidence map[string]Evidence) bool {
	if !evidence[agent].speaksAgainst() {
		return false
	}
	_, why := StandingOf(evidence[agent])
	b.explain(ReasonCaught, "agent %s has no vote: %s", agent, why)
	return true
}

func (b *ballot) vote(a Attempt) {
	for i := range b.groups {
		if g := &b.groups[i]; g.status == a.Status && g.digest == a.Digest {
			g.votes = append(g.votes, a)
			return
		}
	}
	b.groups = append(b.groups, group{status: a.Status, digest: a.Digest, votes: []Attempt{a}})
}

func (b *ballot) explain(code ReasonCode, format string, args ...any) {
	text := format
	if len(args) > 0 {
		text = fmt.Sprintf(format, args...)
	}
	b.reasons = append(b.reasons, Reason{Code: code, Text: text})
}

// leader returns the group with most voices, and how many the next one has.
func (b *ballot) leader() (lead group, second int) {
	if len(b.groups) > 0 {
		lead = b.groups[0]
	}
	if len(b.groups) > 1 {
		second = b.groups[1].voices
	}
	return lead, second
}

// answered tells whether any agent returned an output.
func (b *ballot) answered() bool {
	return slices.ContainsFunc(b.groups, func(g group) bool { return g.status == OK })
}

// dominating returns the failures of the most frequent status, by ID; among
// equals that of the lowest ID.
func (b *ballot) dominating() []Attempt {
	var most []Attempt
	for _, candidate := range b.failures {
		var same []Attempt
		for _, a := range b.failures {
			if a.Status == candidate.Status {
				same = append(same, a)
			}
		}
		if len(same) > len(most) {
			most = same
		}
	}
	return most
}

// compareAttempts orders by ID. The other fields only matter where a caller
// gives one ID twice; they keep the verdict independent of the order even then.
func compareAttempts(a, b Attempt) int {
	return cmp.Or(
		cmp.Compare(a.ID, b.ID),
		cmp.Compare(a.Agent, b.Agent),
		cmp.Compare(a.State, b.State),
		cmp.Compare(a.Status, b.Status),
		cmp.Compare(a.Digest, b.Digest),
	)
}

// compareGroups puts more voices first, among equals more votes, then outputs
// before errors.
func compareGroups(a, b group) int {
	return cmp.Or(
		cmp.Compare(b.voices, a.voices),
		cmp.Compare(len(b.votes), len(a.votes)),
		cmp.Compare(orderOf(a.status), orderOf(b.status)),
		cmp.Compare(a.digest, b.digest),
	)
}

func orderOf(s Status) int {
	if s == OK {
		return 0
	}
	return 1
}
