package verify

import (
	"math"
)

// Bound is what a policy with a target error comes to. It is kept as follows.
//
// What the caller keeps for each pair of job and agent is the number of its open
// window (from 1), how many results wait in it, and the last window that has
// passed with all before it:
//
//	a result is accepted (Verdict.Provisional): it awaits the open window
//	    Draw(Rate)? it is audited at once, else it waits in the window
//	the window has Window results, or the job has nothing else to do (Tail):
//	    Close → draw Audits of its waiting results (Choose), open the next window
//	all audits drawn for a window have passed: results with Final(awaits,
//	    passedThrough) are final. The server's audit also makes final what it
//	    confirms, at once.
//	an audit fails: Tainted. The agent's open and undecided windows are dropped,
//	    in every job of the project
//
// One attempt is leased first and its answer is accepted provisionally. The
// results of one agent in one job are gathered in windows. When a window is
// full, or when nothing else of the job is left to do, Closing of its results
// are drawn by the project's secret and audited; when all of these audits have
// passed, the window's results are final. Beside that some results are audited
// at once (Rate), which says nothing about finality: it only catches earlier.
// One audit that fails re-opens all results of the agent that are not final.
//
// Why the bound holds, whatever the agent does: call L the wrong results among
// the n of a window. A wrong result is only accepted for good when none of the
// a audits meets one of the L, and audits are drawn after all n results are in.
// So at most L·(1−a/n)^L ≤ n/(e·a) wrong results of a window are expected to
// stay, for the worst L (Hoeffding 1963, theorem 4, for drawing without
// replacement). Audits made at once can only take results away. Each window
// pays for itself: an agent gains nothing from an honest past, from other jobs,
// from knowing when it was caught or from coming back under another name. (A
// rule that finalises a result after its agent's next A audits, as they happen,
// does not have that property: who comes back after each catch lies in bursts,
// stops when it has not been caught, and gets several times the bound.) With
// the share f of the results hostile, the wrong ones among the final ones are
// at most f/(1−f) times ρ, the wrong ones per hostile result.
type Bound struct {
	// TargetError is the largest share of wrong results among final ones, and
	// Hostile the share of a job's results that may come from hostile agents.
	TargetError float64
	Hostile     float64
	// Audits is the number of audits by the server that closes a window of any
	// size: f/((1−f)·e·ε), Sarmenta's number for spot-checks with backtracking.
	// Small windows need fewer, see Closing.
	Audits int
	// Window is the number of results of one agent in one job that are gathered
	// before their audits are drawn.
	Window int
	// Voices is the number of independent agents that must give the same answer
	// for it to be final by itself, where nobody gave another.
	Voices int
}

// ResultsPerAudit is how many results of an agent share one audit in a full
// window: with those made at once audits then cost less than three executions in
// a hundred. Larger windows would save little; more results would be made again
// when an agent is caught, and more wrong ones stay together where one is not.
const ResultsPerAudit = 60

// MinWindow is the smallest window, in results: below it a batch of results
// that arrives at once would fill several windows, each of which pays for
// audits of its own.
const MinWindow = 256

// LiveRate is the share of an agent's results that are audited at once. An agent
// that begins to lie always is caught after 69 results in the median.
const LiveRate = 0.01

// ProbationRate is the share for agents that have passed fewer than
// ProbationAudits audits since they joined or failed one: who is new, or was
// caught, is looked at more closely, at a cost of eight executions an agent.
const (
	ProbationRate   = 0.05
	ProbationAudits = 10
)

// Derive gives the numbers that keep a policy's target error.
func Derive(p Policy) Bound {
	b := Bound{TargetError: p.TargetError, Hostile: p.AssumeHostile}
	if b.Hostile == 0 {
		b.Hostile = DefaultHostile
	}
	b.Audits = int(math.Ceil(1/(math.E*b.rho()) - rounding))
	b.Window = max(MinWindow, ResultsPerAudit*b.Audits)
	b.Voices = b.voicesAgainst(0)
	return b
}

// rounding keeps a number that is whole but for the last bits of its
// calculation from being rounded up to the next.
const rounding = 1e-9

// Confirms says whether results that matter (Policy.Confirm) can be told from
// others: where no more of the results are assumed to be hostile than may be wrong,
// the first answer is final.
func (p Policy) Confirms() bool { return p.TargetError == 0 || Derive(p).Voices > 1 }

// ErrorOf is the target error that this many audits to a full window keep.
func ErrorOf(audits int, hostile float64) float64 {
	return hostile / ((1 - hostile) * math.E * float64(audits))
}

// rho is the number of wrong results that may become final for each result of
// hostile agents. Of N shards at least (1−f)·h/f were answered by honest agents
// when hostile ones gave h results, so that ρ·h ≤ ε·N.
func (b Bound) rho() float64 { return b.TargetError * (1 - b.Hostile) / b.Hostile }

// Closing returns how many of a window's n results must be audited before they
// are final, where no owner has more than the stated share of the results.
// detection is the probability that an audit of a wrong result finds it: 1 for
// the server's, 1−f for one replica at another owner, since a hostile one may
// give the same wrong answer. ok is false when not even an audit of every result
// would do: then Voices are needed for each of them.
func (b Bound) Closing(n int, detection float64) (audits int, ok bool) {
	return within(n, detection, b.rho()*float64(max(0, n)))
}

// Detection is the probability that an audit finds a wrong result, with the
// server's rechecks or, without them, with one replica each.
func (b Bound) Detection(m Means) float64 {
	if m.Recheck {
		return 1
	}
	return 1 - b.Hostile
}

// Rate is the share of an agent's results that are to be audited at once.
// A finding about the function or the results may raise it, see Means.
func (b Bound) Rate(e Evidence, m Means) float64 {
	rate := LiveRate
	if e.SinceFailure < ProbationAudits {
		rate = ProbationRate
	}
	return min(1, rate*max(1, m.Raise))
}

// Means is what can be done for a shard or a job now.
type Means struct {
	// Recheck says that the server can execute shards itself.
	Recheck bool
	// Support is the number of independent agents that must have given the
	// answer before the shard is accepted, even provisionally: 2 while a replica
	// audits it, Bound.Voices where Tail asks for that. 0 means one.
	Support int
	// Holder is the agent whose answer is accepted provisionally, if the shard is:
	// its attempt stays the canonical one as long as its answer is taken.
	Holder string
	// Raise multiplies the share of results that are audited at once; below 1 it
	// changes nothing.
	Raise float64
	// Runs is how often the server can execute a shard before it accuses anybody,
	// at least ServerRuns; 0: as often as accusingRuns asks for.
	Runs int
}
