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

// WrongAlike lists the pairs of agents that gave the same wrong answer to a
// shard, by the verdict that proved it: what to count in Alike. Answers that were
// taken back before count too, since they are no less wrong. It is empty where
// nobody is to blame.
func (v Verdict) WrongAlike(attempts []Attempt) []Alike {
	if len(v.Deltas()) == 0 {
		return nil
	}
	blamed := map[string]bool{}
	for _, vote := range v.Disagree {
		blamed[vote.Attempt] = true
	}
	given := map[string][]Attempt{} // by answer
	wrong := map[string]bool{}
	for _, a := range attempts {
		if !a.Server && a.Agent != "" && a.State == Reported && isAnswer(a) {
			answer := string(a.Status) + " " + a.Digest
			given[answer] = append(given[answer], a)
			wrong[answer] = wrong[answer] || blamed[a.ID]
		}
	}
	var pairs []Alike
	for answer, same := range given {
		for i, x := range same {
			for _, y := range same[:i] {
				if wrong[answer] && x.Agent != y.Agent {
					pairs = append(pairs, Alike{A: min(x.Agent, y.Agent), B: max(x.Agent, y.Agent), Times: 1})
				}
			}
		}
	}
	slices.SortFunc(pairs, func(x, y Alike) int { return cmp.Or(cmp.Compare(x.A, y.A), cmp.Compare(x.B, y.B)) })
	return pairs
}
