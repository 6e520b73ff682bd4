package verify

import (
	"time"
)

// HalfLife is how long it takes for half of what is known about an agent to fade.
// A machine changes hands, its memory ages, its owner changes his mind: who was
// right a year ago is nearly as unknown as who is new. A month lets a machine
// that works every day keep most of its record, and puts one that has not been
// seen for a season back on probation.
const HalfLife = 30 * 24 * time.Hour

// Halvings is how many half-lives have passed in a time.
func Halvings(age time.Duration) int {
	if age <= 0 {
		return 0
	}
	return int(age / HalfLife)
}

// Fade halves evidence so many times. What speaks for an agent is forgotten in the
// end; the last failure never is, so that no agent can lie once a month forever. That
// an agent is caught does not fade, and neither do clusters.
//
// Fading in steps comes to the same as fading at once, and catches nobody: an agent
// that had passed enough for each failure still has.
func (e Evidence) Fade(halvings int) Evidence {
	for ; halvings > 0 && (e.Passed > 0 || e.SinceFailure > 0 || e.Record > 0 || e.Vouched > 0 || e.Failed > 1); halvings-- {
		e.Passed /= 2
		e.SinceFailure /= 2
		e.Record /= 2
		e.Vouched /= 2
		if e.Failed > 1 {
			e.Failed /= 2
		}
	}
	return e
}
