package verify

import (
	"slices"
)

// Honest machines of different platforms may disagree: another C library rounds
// otherwise, another interpreter orders sets otherwise. That is told from lying
// by four things, which are all needed, since a platform is only what an
// agent claims:
//
//   - The answers come from one class that is known, which is not the
//     reference's, and from which nobody gave the reference's answer. A liar
//     on a platform that honest agents share is contradicted by these.
//   - They come from MinDivergent independent voices: what one owner's machines
//     have in common is that owner.
//   - These voices have a record: each was right ProbationAudits times before. Two
//     accomplices who invent a platform have nobody on it who ever was; without a
//     record their platform is what liars would call theirs, and they are charged
//     as these.
//   - An excuse uses the record up (Evidence.Record starts from zero), and an
//     excused agent no longer leases that version of the function, which its
//     machine cannot execute. So accomplices with a record get one lie each for
//     ProbationAudits answers that the server has confirmed, never a free pass;
//     and none of these lies is accepted, since what is excused is taken back and
//     not final all the same (see Tainted).
//
// A single shard shows this only where two of a class gave an answer to it. Where
// agents give one each, it shows in the job as a whole: see Divergent, after which
// charges are taken back.

// MinDivergent is the number of independent agents that must disagree on a
// platform before their answers are taken for the platform's.
const MinDivergent = 2

// PassedShare is the share, one in so many, of checked answers that may be right
// at most for a class to disagree as a whole.
const PassedShare = 10

// vouches says whether an agent was right often enough to be believed about its
// platform.
func (e Evidence) vouches() bool { return e.Record >= ProbationAudits }

// vouched counts the independent voices among agents with a record.
func vouched(agents []Attempt, evidence map[string]Evidence) int {
	return voices(slices.DeleteFunc(slices.Clone(agents), func(a Attempt) bool { return !evidence[a.Agent].vouches() }), evidence)
}

// isPlatform says whether a group's answer is that of its platform. class is that
// of the reference.
func (g group) isPlatform(reference group, class string, evidence map[string]Evidence) bool {
	own := g.votes[0].Class
	if own == "" || class == "" || own == class {
		return false
	}
	return !slices.ContainsFunc(g.votes, func(a Attempt) bool { return a.Class != own }) &&
		!slices.ContainsFunc(reference.votes, func(a Attempt) bool { return a.Class == own }) &&
		vouched(g.votes, evidence) >= MinDivergent
}

// splitByPlatform says whether the two first answers are each that of a class.
func (b *ballot) splitByPlatform(evidence map[string]Evidence) bool {
	if len(b.groups) < 2 {
		return false
	}
	lead, rival := b.groups[0], b.groups[1]
	return vouched(lead.votes, evidence) >= MinDivergent && rival.isPlatform(lead, lead.votes[0].Class, evidence)
}

// Member is an agent that has worked for a job, and how often its answers there
// were confirmed and proven wrong.
type Member struct {
	Agent          string
	Owner          string
	Block          string
	Class          string
	Passed, Failed int64
}

// ClassVerdict is a class of platforms that disagrees as a whole.
type ClassVerdict struct {
	Class string
	// Excused are the agents of the class that are not to blame: empty where too
	// few with a record vouch for it. Then it is reported all the same, and a
	// person decides.
	Excused []string
}

// Divergent lists the classes that disagree as a whole with the reference's:
// agents of MinDivergent independent voices failed, and no more than one answer in
// PassedShare passed. reference is the server's class or, where agents judge
// one another, that of most answers that passed (see Majority); it cannot
// diverge, and where it is not known no class can.
func Divergent(reference string, members []Member, evidence map[string]Evidence) []ClassVerdict {
	var found []ClassVerdict
	for _, class := range classesOf(members) {
		if reference == "" || class == reference {
			continue
		}
		var passed, failed int64
		var failing []Attempt
		for _, m := range members {
			if m.Class != class {
				continue
			}
			passed, failed = passed+m.Passed, failed+m.Failed
			if m.Failed > 0 {
				failing = append(failing, Attempt{Agent: m.Agent, Owner: m.Owner, Block: m.Block})
			}
		}
		if passed*PassedShare > failed || voices(failing, evidence) < MinDivergent {
			continue
		}
		v := ClassVerdict{Class: class}
		if vouched(failing, evidence) >= MinDivergent {
			for _, a := range failing {
				v.Excused = append(v.Excused, a.Agent)
			}
		}
		found = append(found, v)
	}
	return found
}

// Majority is the class with most answers that passed; empty: none has any, or two
// have as many.
func Majority(members []Member) (class string) {
	passed := map[string]int64{}
	for _, m := range members {
		passed[m.Class] += m.Passed
	}
	most := int64(0)
	for _, c := range classesOf(members) {
		switch n := passed[c]; {
		case n > most:
			class, most = c, n
		case n == most:
			class = ""
		}
	}
	return class
}

// classesOf lists the classes that are known.
func classesOf(members []Member) []string {
	var classes []string
	for _, m := range members {
		if m.Class != "" {
			classes = append(classes, m.Class)
		}
	}
	slices.Sort(classes)
	return slices.Compact(classes)
}
