package verify

// Final says whether a result is final. awaits is the number of the window of
// its agent in its job, counted from 1, that was open when it was accepted;
// passedThrough is the last window that has passed, with all before it.
func Final(awaits, passedThrough int64) bool { return awaits <= passedThrough }

// Pool is the results of one agent in a job that are accepted provisionally and
// not under audit, in its open window.
type Pool struct {
	Agent   string
	Results int
	// Owner is whose agent it is; the zero value: one with no more than the
	// stated share.
	Owner Owner
}

// Closing is how the results of a pool become final.
type Closing struct {
	Agent string
	// Audits of the pool's results are drawn (Choose) and audited: by the server
	// where it can, else by one replica at another owner each (Means.Support 2).
	Audits int
	// Voices is not 0 where audits could not hold the bound: every result of the
	// pool is leased until so many independent agents agree (Means.Support).
	Voices int
	// Risk is how many wrong results are expected to become final at most.
	Risk float64
}

// Tail decides how the results become final that are left when a job has
// nothing else to do: the cheapest way that holds the bound. Full windows are
// closed the same way. Pools without results are left out.
func (b Bound) Tail(pools []Pool, m Means) []Closing {
	closings := make([]Closing, 0, len(pools))
	for _, p := range pools {
		if p.Results <= 0 {
			continue
		}
		closings = append(closings, b.Close(p, m))
	}
	return closings
}

// Close decides how the results of one pool become final.
func (b Bound) Close(p Pool, m Means) Closing {
	budget := b.rho() * float64(max(0, p.Results))
	if p.Owner != (Owner{}) {
		budget = b.Budget(p.Results, p.Owner)
	}
	d := b.Detection(m)
	audits, enough := within(p.Results, d, budget)
	if !enough {
		return Closing{Agent: p.Agent, Voices: b.Voices, Risk: b.TargetError * float64(p.Results)}
	}
	return Closing{Agent: p.Agent, Audits: audits, Risk: Risk(p.Results, audits, d)}
}

// Finding is what an audit has found.
type Finding string

// The findings.
const (
	Passed Finding = "passed" // the answer was confirmed
	Failed Finding = "failed" // the answer was proven wrong, or is not shared by other platforms
	Void   Finding = "void"   // it says nothing: draw another result of the window instead
)

// Taint says what a finding means for an agent.
type Taint struct {
	// Reopen: all results of the agent that are not final, in every job, are
	// lent again, and their attempts have no vote any more (Attempt.Void).
	Reopen bool
	// Charge: it counts against the agent (Evidence.Failed).
	Charge bool
}

// Tainted says what follows for the agent whose answer was audited. A wrong
// answer re-opens what is not final, whoever is to blame; where platforms or the
// function itself differ, nobody is.
func Tainted(f Finding, d Divergence) Taint {
	if f != Failed {
		return Taint{}
	}
	return Taint{Reopen: true, Charge: d == ""}
}
