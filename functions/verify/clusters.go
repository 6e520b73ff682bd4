package verify

import (
	"cmp"
	"slices"
)

// Alike counts how often two agents gave the same answer to a shard that was
// proven wrong.
type Alike struct {
	A, B  string
	Times int
}

// ClusterAt is the number of shards on which two agents must have given the same
// wrong answer to be taken for one hand. Two machines that break in the same way
// may agree on one wrong answer, where a function has an obvious one; agreeing
// again is no accident.
const ClusterAt = 2

// Clusters groups agents that lie together: everyone with whom an agent, or one
// of its cluster, was wrong alike. It names each by its first agent. Agents that
// are in no cluster are left out. (After Canon, Jeannot and Weissman 2010, who
// split agents by how often they agree; here only proven lies count, so that
// honest agents, who always agree, are never taken for a cluster.)
func Clusters(pairs []Alike) map[string]string {
	parent := map[string]string{}
	var find func(string) string
	find = func(a string) string {
		up, known := parent[a]
		if !known || up == a {
			return a
		}
		root := find(up)
		parent[a] = root
		return root
	}
	for _, p := range pairs {
		if p.Times < ClusterAt || p.A == p.B {
			continue
		}
		low, high := find(p.A), find(p.B)
		if low > high {
			low, high = high, low
		}
		parent[low], parent[high] = low, low
	}
	clusters := map[string]string{}
	for agent := range parent {
		clusters[agent] = find(agent)
	}
	return clusters
}

// WrongAlike lists the pairs of agents that gave the same wrong answer, by the
// verdict that proved it: what to count in Alike. It is empty where nobody is to
// blame.
func (v Verdict) WrongAlike(attempts []Attempt) []Alike {
	if len(v.Deltas()) == 0 {
		return nil
	}
	answers := map[string]string{}
	for _, a := range attempts {
		if !a.Server && a.State == Reported && isAnswer(a) {
			answers[a.ID] = string(a.Status) + " " + a.Digest
		}
	}
	var pairs []Alike
	for i, x := range v.Disagree {
		for _, y := range v.Disagree[:i] {
			if answers[x.Attempt] != "" && answers[x.Attempt] == answers[y.Attempt] {
				pairs = append(pairs, Alike{A: min(x.Agent, y.Agent), B: max(x.Agent, y.Agent), Times: 1})
			}
		}
	}
	slices.SortFunc(pairs, func(x, y Alike) int { return cmp.Or(cmp.Compare(x.A, y.A), cmp.Compare(x.B, y.B)) })
	return pairs
}

// ClassTally is how the audits of a job went that agents of one class of
// platforms had.
type ClassTally struct {
	Class          string
	Passed, Failed int
	// FailedOwners is the number of owners whose agents failed one.
	FailedOwners int
}

// Divergent lists the classes that disagree with the server as a whole: agents
// of MinDivergent owners or more failed, and no more than one audit in ten
// passed. That is the function's doing, or the platform's, and nobody is charged
// for it; their results must not become final all the same. reference is the
// server's class, which cannot diverge.
func Divergent(reference string, tallies []ClassTally) []string {
	const passedShare = 10
	var classes []string
	for _, t := range tallies {
		if t.Class != "" && t.Class != reference && t.FailedOwners >= MinDivergent && t.Passed*passedShare <= t.Failed {
			classes = append(classes, t.Class)
		}
	}
	slices.Sort(classes)
	return classes
}
