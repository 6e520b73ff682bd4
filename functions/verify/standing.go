package verify

import (
	"fmt"
)

// CatchFailures is the number of out-voted answers at which an agent may be
// caught. One is forgiven: two liars who agree can out-vote an honest agent
// once, and even good memory flips a bit. The second leaves little doubt, and
// a liar with 30 % of lies gets there after about seven checked answers.
const CatchFailures = 2

// ForgivenPerFailure is how many passed checks make up for one failed check
// beyond what CatchFailures forgives. One wrong answer in a thousand is more
// than any machine in order gives, and projects without checks see 1 to 2 %
// from machines that are not: whether such a machine lies or is broken, its
// answers cost more than they are worth.
const ForgivenPerFailure = 1000

// StandingOf applies the rule: an agent is caught once at least CatchFailures of
// its answers were out-voted, unless it has passed more than ForgivenPerFailure
// checks for each of them. The reason is for people to read.
func StandingOf(e Evidence) (Standing, string) {
	if !e.speaksAgainst() {
		if e.Failed < CatchFailures {
			return Active, fmt.Sprintf("%d checks passed, %d failed: fewer than %d failures", e.Passed, e.Failed, CatchFailures)
		}
		return Active, fmt.Sprintf("%d checks passed, %d failed: at most one in %d", e.Passed, e.Failed, ForgivenPerFailure)
	}
	if e.Caught {
		return Caught, "marked as caught"
	}
	return Caught, fmt.Sprintf("out-voted %d times, with %d checks passed: more than one in %d", e.Failed, e.Passed, ForgivenPerFailure)
}

// speaksAgainst is the rule alone.
func (e Evidence) speaksAgainst() bool {
	return e.Caught || e.Failed >= CatchFailures && e.Passed/ForgivenPerFailure < e.Failed
}
