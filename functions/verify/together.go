package verify

import (
	"math"
)

// Together is how windows that are left at the end of a job become final
// together: the same share of each is audited, and all of them are final when all
// of these audits pass. When one fails, none is, and each window by itself takes
// the audits that are missing, with what is left of the target error.
//
// Why that keeps the bound: call L the wrong results in all of the windows. None
// becomes final unless no audit meets any of them, and a share x of each window is
// audited, so that at most L·(1−x)^L ≤ 1/(e·λ) wrong ones are expected to stay,
// with λ = −ln(1−x), however they are spread over windows and owners. Who sees
// some audits pass before it tells its last lies has no more of it: the sum of
// the lies is what counts. The budget is Part of ε for each result, whoever gave
// it, where windows by themselves have ρ for each hostile one; what follows a
// failure has the rest, so that both come to ε together.
//
// It is cheaper where many owners give few results each, since the audits grow
// with the results of the job and not with its owners; and dearer where somebody
// is caught. So it is for owners that have a record. The bound does not rest upon
// that.
type Together struct {
	// Part is the part of the target error that the windows may spend together.
	Part float64
	// Share is the part of each window's results that is audited.
	Share float64
}

// togetherParts are the parts of the target error that windows may spend together:
// a large one leaves little for what follows a failure.
func togetherParts() []float64 { return []float64{0.5, 0.75, 0.9} }

// FailureOdds is how likely it is taken to be that an audit of some owner with a
// record fails in a job, where that decides what is cheaper.
const FailureOdds = 0.1

// Audits is how many of a window's n results are audited.
func (t Together) Audits(n int) int { return int(math.Ceil(t.Share*float64(n) - rounding)) }

// Rest is the bound that is left for windows that are closed by themselves.
func (t Together) Rest(b Bound) Bound {
	b.TargetError *= 1 - t.Part
	return b
}

// Missing is how many further audits a window of n results takes by itself, of
// which so many were audited together with others; the second number is what it
// may let through.
func (t Together) Missing(b Bound, n, audited int, o Owner, m Means) (audits int, risk float64) {
	c := t.Rest(b).Close(Pool{Results: n, Owner: o}, m)
	if c.Voices > 0 {
		return n - audited, c.Risk
	}
	audits = max(c.Audits, audited)
	return audits - audited, Risk(n, audits, b.Detection(m))
}

// Together decides whether windows with so many results each are closed together,
// of owners with a record and of a job of which no window was drawn from before:
// where fewer executions are expected then, those for other windows that are left
// among them, which only the rest is for. It takes a server that rechecks.
func (b Bound) Together(known, others []int, m Means) (best Together, ok bool) {
	if !m.Recheck || len(known) < 2 {
		return best, false
	}
	all := 0
	for _, n := range known {
		all += n
	}
	least := b.apart(known, Together{}) + b.apart(others, Together{})
	for _, part := range togetherParts() {
		t := Together{Part: part, Share: auditedShare(part * b.TargetError * float64(all))}
		first := 0.0
		for _, n := range known {
			first += float64(t.Audits(n))
		}
		cost := (1-FailureOdds)*first + FailureOdds*b.apart(known, t) + b.apart(others, Together{Part: part})
		if cost < least {
			least, best, ok = cost, t, true
		}
	}
	return best, ok
}

// apart is how many audits windows take by themselves, those included that they
// had together.
func (b Bound) apart(sizes []int, t Together) (audits float64) {
	for _, n := range sizes {
		more, _ := t.Missing(b, n, t.Audits(n), Owner{}, Means{Recheck: true})
		audits += float64(t.Audits(n) + more)
	}
	return audits
}

// auditedShare is the least share of results of which so many wrong ones are
// expected to stay at most, whatever their number is.
func auditedShare(budget float64) float64 {
	if budget <= 0 {
		return 1
	}
	if lambda := 1 / (math.E * budget); lambda <= 1 {
		return -math.Expm1(-lambda)
	}
	return max(0, 1-budget)
}
