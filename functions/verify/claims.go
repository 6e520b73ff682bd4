package verify

import (
	"fmt"
	"time"
)

// MaxUnconfirmed is how many attempts of one owner's agents may end without an answer
// at shards of a job to which others gave one, before the owner gets no more leases
// of the job: when they are half of what it brought as well. To say that one has run
// out of time costs nothing, and must not cost others much. A machine that is too
// slow for a function is of no use to the job either; nothing is held against it
// elsewhere.
const MaxUnconfirmed = 20

// Unconfirmed says whether an owner gets no more leases of a job, of which it brought
// so many results, and so many of them without an answer that others gave.
func Unconfirmed(unconfirmed, results int64) bool {
	return unconfirmed >= MaxUnconfirmed && 2*unconfirmed >= results
}

// An owner is quarantined when its agents made MaxClaims such attempts within
// ClaimsKept, in ClaimJobs jobs at least and half of what they brought: one job may
// be too large for machines that are in order, but who answers nothing in job after
// job only costs the others.
const (
	MaxClaims  = 3 * MaxUnconfirmed
	ClaimJobs  = 3
	ClaimsKept = 30 * 24 * time.Hour
)

// Claims are what an owner's agents have brought to a project within ClaimsKept:
// results, those without an answer where others gave one, and in how many jobs these
// were.
type Claims struct {
	Unconfirmed, Results, Jobs int64
}

// Quarantined says whether the owner gets no more leases from the project, and why.
func (c Claims) Quarantined() (bool, string) {
	if c.Unconfirmed < MaxClaims || c.Jobs < ClaimJobs || 2*c.Unconfirmed < c.Results {
		return false, ""
	}
	return true, fmt.Sprintf("%d of its owner's %d attempts in %d jobs ended without an answer where others gave one", c.Unconfirmed, c.Results, c.Jobs)
}

// IsClaim says whether a status is only the agent's claim about an attempt. An
// exception is none: it is an answer, which others give or contradict.
func (s Status) IsClaim() bool { return s != OK && s != Error }

// Confirms says whether the server's own attempt ended as one that has no answer.
func Confirms(server, claim Status) bool { return claim.IsClaim() && server == claim }
