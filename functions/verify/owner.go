package verify

import (
	"math"
)

// Owner is what is known of one owner's results in a job when a window of it is
// closed. The bound is kept against any single owner, whatever share of the job
// it takes, and against all hostile owners together up to the stated share.
type Owner struct {
	// Results is the number of results that the owner's agents have gathered in
	// windows of the job, those that were taken back later included, and All that
	// of all owners.
	Results, All int64
	// Spent is the number of wrong results that windows of the owner may have let
	// through, as expected at most: the sum of Closing.Risk. Shards is the number
	// of the job's shards that may be accepted.
	Spent  float64
	Shards int64
}

// Share is the owner's part of the job's results so far.
func (o Owner) Share() float64 {
	if o.All <= 0 || o.Results >= o.All {
		return 1
	}
	return float64(max(0, o.Results)) / float64(o.All)
}

// Budget is how many wrong results of a window with n results may become final,
// as expected at most. It is the least of three:
//
//	ρ·n: hostile owners who give the stated share of the results together spend
//	     no more than ε for each result of the job, however they divide it;
//	ε·n/s: an owner with the share s of the results spends no more than ε for
//	     each result of the job, as long as its share stays what it is;
//	ε·N − spent: and however it changes, it never spends more than that.
//
// The last one is the proof for a single owner: the expected number of wrong
// results is the sum over all windows that were drawn from, those that failed
// included, so that it holds for every name that the owner's agents take.
func (b Bound) Budget(n int, o Owner) float64 {
	size := float64(max(0, n))
	budget := min(b.rho()*size, b.TargetError*size/o.Share())
	if o.Shards > 0 {
		budget = min(budget, b.TargetError*float64(o.Shards)-o.Spent)
	}
	return max(0, budget)
}

// Against is the share of wrong results that is to be expected at most when owners
// who give such shares of the results are hostile, whatever they do. For one owner
// it is never more than the target error, nor for owners with the stated share
// together; above that it grows with each owner. The budgets of an owner's windows
// are at most ρ·n each, and ε·N together.
func (b Bound) Against(shares ...float64) float64 {
	sum := 0.0
	for _, s := range shares {
		sum += min(1, max(0, s)*(1-b.Hostile)/b.Hostile)
	}
	return b.TargetError * sum
}

// StandsAt is the bound that holds where owners have such shares of the results, if
// any of them is hostile, and beside it others that together have no more than the
// stated share: the target error, as long as no owner has more.
func (b Bound) StandsAt(shares ...float64) float64 {
	largest := 0.0
	for _, s := range shares {
		largest = max(largest, s)
	}
	if largest <= b.Hostile+rounding {
		return b.TargetError
	}
	return b.Against(largest, min(b.Hostile, 1-largest))
}

// within is the least number of audits of n results with which at most so many
// wrong ones are expected to stay, whatever their number is; ok is false when
// not even an audit of every result would do.
//
// It is the least a with L·(1−d·a/n)^L ≤ budget for all L ≥ 1. The left side is
// largest at L = 1/λ, where λ = −ln(1−d·a/n), and is 1/(e·λ) there; where λ > 1
// it is largest at L = 1.
func within(n int, detection, budget float64) (audits int, ok bool) {
	size := float64(n)
	if n <= 0 || budget >= size {
		return 0, true // all of them may be wrong
	}
	share := auditedShare(budget)
	audits = int(math.Ceil(size*share/detection - rounding))
	return max(0, min(audits, n)), audits <= n
}

// Risk is how many wrong results are expected to stay at most when so many of n
// are audited: the other direction of within.
func Risk(n, audits int, detection float64) float64 {
	if n <= 0 {
		return 0
	}
	if audits <= 0 {
		return float64(n)
	}
	missed := 1 - detection*float64(min(audits, n))/float64(n)
	if missed <= 0 {
		return 0
	}
	if lambda := -math.Log(missed); lambda <= 1 {
		return min(float64(n), 1/(math.E*lambda))
	}
	return missed
}
