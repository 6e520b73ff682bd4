package verify

import (
	"math"
	"slices"
)

// MinDivergent is the number of owners that must agree on a platform before
// their answer is taken for the platform's.
const MinDivergent = 2

// rank counts the independent voices of each answer and puts the answer with
// the most of them first.
func (b *ballot) rank(evidence map[string]Evidence) {
	for i := range b.groups {
		g := &b.groups[i]
		g.voices = voices(g.votes, evidence)
		if g.voices < len(g.votes) {
			b.explain(ReasonDependent, "%d agents agree on %s, but some belong together: they count as %d", len(g.votes), *g, g.voices)
		}
	}
	slices.SortStableFunc(b.groups, func(x, y group) int { return y.voices - x.voices })
}

// voices counts votes, those that may come from one hand once: agents of one
// owner, of one cluster, or both on probation in one block of addresses.
func voices(votes []Attempt, evidence map[string]Evidence) int {
	if len(votes) < 2 {
		return len(votes)
	}
	hand := make([]int, len(votes)) // the lowest vote of the same hand
	n := len(votes)
	for i := range votes {
		hand[i] = i
		for j := range i {
			if hand[j] != hand[i] && together(votes[i], votes[j], evidence) {
				merge(hand[:i+1], hand[i], hand[j])
				n--
			}
		}
	}
	return n
}

func merge(hand []int, from, to int) {
	for i := range hand {
		if hand[i] == from {
			hand[i] = to
		}
	}
}

func together(a, b Attempt, evidence map[string]Evidence) bool {
	of, other := evidence[a.Agent], evidence[b.Agent]
	switch {
	case a.Owner != "" && a.Owner == b.Owner:
		return true
	case of.Cluster != "" && of.Cluster == other.Cluster:
		return true
	}
	return a.Block != "" && a.Block == b.Block && of.OnProbation() && other.OnProbation()
}

// doubt is the probability that the leading answer is wrong (Sarmenta's
// credibility of a result group, as PoCo has it): 1 − W/(1 + ΣW), where W is an
// answer's product of (1−f)/f over its voices. All agents count alike here: an
// honest past says nothing about one who waits for the moment at which the
// others of its kind are asked, and f is what is assumed of anybody.
func (b Bound) doubt(lead group, rivals []group) float64 {
	against := 1.0
	for _, r := range rivals {
		against += b.weight(r.voices)
	}
	return against / (against + b.weight(lead.voices))
}

func (b Bound) weight(voices int) float64 { return math.Pow((1-b.Hostile)/b.Hostile, float64(voices)) }

// missing is the number of further independent voices that would make the
// leading answer final.
func (b Bound) missing(lead group, rivals []group) int {
	against := 1.0
	for _, r := range rivals {
		against += b.weight(r.voices)
	}
	return max(0, b.voicesFor(against)-lead.voices)
}

func (b Bound) voicesAgainst(rival int) int {
	if rival == 0 {
		return b.voicesFor(1)
	}
	return b.voicesFor(1 + b.weight(rival))
}

// voicesFor is the least v with against/(against + W^v) ≤ ε.
func (b Bound) voicesFor(against float64) int {
	odds := against * (1 - b.TargetError) / b.TargetError
	return max(1, int(math.Ceil(math.Log(odds)/math.Log((1-b.Hostile)/b.Hostile)-rounding)))
}

// isPlatform says whether a group's answer is that of its platform: it comes
// from one class, which is neither the reference's nor that of anybody who
// agrees with the reference, and from enough owners.
func (g group) isPlatform(reference group, class string) bool {
	own := g.votes[0].Class
	if own == "" || own == class || owners(g.votes) < MinDivergent {
		return false
	}
	return !slices.ContainsFunc(g.votes, func(a Attempt) bool { return a.Class != own }) &&
		!slices.ContainsFunc(reference.votes, func(a Attempt) bool { return a.Class == own })
}

// splitByPlatform says whether the two first answers are each that of a class.
func (b *ballot) splitByPlatform() bool {
	if len(b.groups) < 2 {
		return false
	}
	lead, rival := b.groups[0], b.groups[1]
	return owners(lead.votes) >= MinDivergent && lead.votes[0].Class != "" && rival.isPlatform(lead, lead.votes[0].Class)
}

// owners counts the owners of votes; agents without one count for themselves.
func owners(votes []Attempt) int {
	seen := map[string]bool{}
	for _, a := range votes {
		if a.Owner != "" {
			seen["owner "+a.Owner] = true
		} else {
			seen["agent "+a.Agent] = true
		}
	}
	return len(seen)
}
