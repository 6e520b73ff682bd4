package verify

import (
	"math"
	"slices"
)

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
	slices.SortFunc(b.groups, compareGroups)
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

// Voices counts agents, given as an attempt each, those that may come from one
// hand once.
func Voices(agents []Attempt, evidence map[string]Evidence) int { return voices(agents, evidence) }
