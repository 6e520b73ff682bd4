package verify

import (
	"math"
)

// A function that is not deterministic makes liars of honest machines. The
// server finds it by executing a shard again, but an answer of few values comes
// again by chance: a coin agrees with itself every second time. So an agent
// is accused for the first time only by an answer that the server has given
// so often that chance does not explain it (see runsToAccuse); and where a function
// was found to be unsteady all the same, charges that chance may explain are void,
// those of the past too (see Chance).

const (
	// ServerRuns is how often the server must have given an answer, each time in
	// another directory and with another hash seed, before it speaks against an
	// agent that was proven wrong before.
	ServerRuns = 2
	// MaxChance is the largest probability with which an answer may have come
	// about by chance that accuses an agent for the first time.
	MaxChance = 1e-6
	// MaxServerRuns is how often the server executes a shard at most before it
	// accuses an agent: where there are two answers a coin agrees with itself
	// 20 times with a probability of 9.5e-7.
	MaxServerRuns = 21
	// SteadyAfter is how many charges of a job make its function one that gives one
	// answer, where the server has found no shard that it gives two to: from then
	// on ServerRuns are enough. An agent that comes back under new names costs no more.
	SteadyAfter = 32
)

// RunsFor is how often the server executes a shard of a job at most before it
// accuses anybody (see Means.Runs): unsteady is how many shards of the function it
// has given two answers to, charges how many speak against agents in the job.
func RunsFor(unsteady, charges int64) int {
	if unsteady == 0 && charges >= SteadyAfter {
		return ServerRuns
	}
	return MaxServerRuns
}

// accusingRuns is how often the server must have given its answer where so many
// answers to a shard are known, its own included: as if each came as likely as the
// others.
func accusingRuns(answers int) int {
	return 1 + int(math.Ceil(math.Log(MaxChance)/-math.Log(float64(max(answers, 2)))))
}

// runsToAccuse is how often the server must have given its answer before it speaks
// against those who gave another. Who was proven wrong before, and not excused
// since, needs no more than ServerRuns: a first charge was not made by chance.
func (b *ballot) runsToAccuse(opposed []group, evidence map[string]Evidence, m Means) int {
	needed := ServerRuns
	for _, g := range opposed {
		for _, a := range g.votes {
			if evidence[a.Agent].Failed == 0 {
				needed = accusingRuns(len(opposed) + 1)
			}
		}
	}
	if m.Runs > 0 {
		needed = min(needed, max(m.Runs, ServerRuns))
	}
	return needed
}

// ChanceOfFinding is the smallest probability with which the server finds out that
// a function is unsteady where it is, and contradicts an agent by it: half of what
// differs by chance is an answer of the server that it does not give again.
const ChanceOfFinding = 0.5

// Chance says whether charges may be no more than the chance of a function that is
// not deterministic: unsteady is how many shards the server has given two answers
// to, charges how often it gave but one, which contradicted an agent. If every
// contradiction were chance, it would have found out ChanceOfFinding of them and
// more; it is chance as long as so few findings among so many contradictions have a
// probability above MaxChance. Without any finding nothing is.
func Chance(unsteady, charges int64) bool {
	return unsteady > 0 && (charges <= unsteady || fewHeads(unsteady, unsteady+charges) > MaxChance)
}

// fewHeads is the probability of at most k heads in n throws of a coin that shows
// them with ChanceOfFinding.
func fewHeads(k, n int64) float64 {
	sum := 0.0
	for i := range k + 1 {
		sum += math.Exp(logChoose(n, i) + float64(n)*math.Log(ChanceOfFinding))
	}
	return min(sum, 1)
}

func logChoose(n, k int64) float64 {
	whole, _ := math.Lgamma(float64(n + 1))
	one, _ := math.Lgamma(float64(k + 1))
	other, _ := math.Lgamma(float64(n - k + 1))
	return whole - one - other
}
