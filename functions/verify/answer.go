package verify

import (
	"fmt"
	"math"
)

// ExactRisk is what an exact answer is wrong with, at most: the least
// Policy.AnswerError.
const ExactRisk = 1e-6

// minShareOfAnswer is the least target error of a policy for a whole answer: that
// of an exact one of as many shards as a job may have, ten million, less what its
// calculation may round off.
const minShareOfAnswer = ExactRisk / 1e7 * (1 - rounding)

// AnswerRisk is the largest probability with which any of so many results is
// wrong: no more than the number of wrong ones that is to be expected (Markov's
// inequality). It needs no further assumption, and rates of small jobs come close
// to it: an owner who tells one lie in its only window tells it with the
// probability that the window's budget leaves.
func AnswerRisk(errorBound float64, shards int64) float64 {
	return min(1, errorBound*float64(max(0, shards)))
}

// QuorumError is the share of wrong results that is to be expected of a quorum when
// the share hostile of the attempts is, by chance, and all of them lie alike: their
// answer has a quorum before the right one has. Where the answers differ further
// agents are asked, which liars may be as well, so that it is more than the
// probability that the first ones all are.
func QuorumError(quorum int, hostile float64) float64 {
	sum, ways := 0.0, 1.0 // the honest attempts that came before: in how many orders, and how likely
	for honest := range quorum {
		sum += ways
		ways *= (1 - hostile) * float64(quorum+honest) / float64(honest+1)
	}
	return math.Pow(hostile, float64(quorum)) * sum
}

// leastError is the least target error that the policy may have.
func (p Policy) leastError() float64 {
	if p.AnswerError != 0 {
		return minShareOfAnswer
	}
	return MinTargetError
}

// ForAnswer says how a job of so many shards keeps Policy.AnswerError: by a
// target error that leaves each result its part of it, or by the server executing
// every shard, whichever takes fewer executions with the agents at hand and comes
// to an end. A policy without an AnswerError stays as it is.
func (p Policy) ForAnswer(hands []Hand, shards int64, m Means) (Policy, error) {
	if p.AnswerError == 0 {
		return p, nil
	}
	bounded, all := p, p
	bounded.Recheck, bounded.TargetError = "", p.AnswerError/float64(max(1, shards))
	all.Recheck, all.TargetError, all.AssumeHostile = RecheckAll, 0, 0
	audited, err := Plan(bounded, hands, shards, m)
	if err != nil {
		return p, fmt.Errorf("choosing how to keep the answer's error: %w", err)
	}
	executed, err := Plan(all, hands, shards, m)
	if err != nil {
		return p, fmt.Errorf("choosing how to keep the answer's error: %w", err)
	}
	if m.Recheck && (audited.Stuck || executed.PerShard <= audited.PerShard) {
		return all, nil
	}
	return bounded, nil
}

// AuditedByAgents says whether the bound of a job rests on audits by other agents: no
// server can execute its shards now, and none has; or more audits have passed than
// the server executed. served: a server can, or nothing is left to be executed.
func AuditedByAgents(targetError float64, passed, rechecks int64, served bool) bool {
	return targetError > 0 && (passed > rechecks || rechecks == 0 && !served)
}
