package verify

import (
	"fmt"
)

// CatchKin is how many agents of one owner are caught before the owner is: one of
// its machines may be broken, and its others make again what that one spoiled.
const CatchKin = 2

// Kin is what a project knows about all agents of one owner together.
type Kin struct {
	Caught         int64 // agents
	Passed, Failed int64
	SinceFailure   int64
	Vouched        int64
}

// Standing applies the rule of StandingOf to an owner: it is caught, with all its
// agents, also those that come later, once CatchKin of them are, unless they have
// passed more than ForgivenPerFailure checks for each that failed. Who comes back
// under another name of the same owner is not new. The reason is for people.
func (k Kin) Standing() (Standing, string) {
	if k.Caught < CatchKin || k.Passed/ForgivenPerFailure >= k.Failed {
		return Active, fmt.Sprintf("%d agents of its owner were caught", k.Caught)
	}
	return Caught, fmt.Sprintf("%d agents of its owner were caught", k.Caught)
}

// Among is the evidence about an agent as one of its owner's: they have one
// probation, which ends with the audits that all of them have passed, one record,
// and are caught together.
func (e Evidence) Among(k Kin) Evidence {
	e.SinceFailure = max(e.SinceFailure, k.SinceFailure)
	e.Vouched = max(e.Vouched, k.Vouched)
	if standing, _ := k.Standing(); standing == Caught {
		e.Caught = true
	}
	return e
}
