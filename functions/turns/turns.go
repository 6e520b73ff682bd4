// Package turns decides who is served next among many: projects by their weights, and the jobs of one project by their
// priorities. It is pure: no I/O, no clock, no randomness.
//
// It is start-time fair queueing. Each member of a line has an account on the line's own clock: where its last turn began, and where that
// one ends. A turn takes a member of twice the weight half as far. The member whose last turn ends first is next, so that members which
// always have work have turns in proportion to their weights, and none that waits is passed over without end: the others move on.
package turns

import (
	"bytes"
	"cmp"
	"math"
	"slices"

	"github.com/google/uuid"
)

// Weights of projects: one of twice the weight has twice as many turns.
const (
	MinWeight     = 1
	MaxWeight     = 1000
	DefaultWeight = 100
)

// Priorities of jobs: each step doubles the share of its project's turns that a job has.
const (
	MinPriority     = 1
	MaxPriority     = 9
	DefaultPriority = 5
)

// Credit is how many turns of the default weight a member may be behind the others: what it had no work for longer ago than this is not
// made up for, so that one that comes back does not keep the others out. It is more than one, since leases which are given at the same
// moment do not see one another.
const Credit = 16

// MaxDebt is how many turns a member may be ahead of the last one that it was given: what is held of it for long counts as further turns, but
// one that has much at a time is not kept out for longer than the others have so many turns. Nor is it for longer than Credit and a turn for
// each agent that holds something: one agent that takes all it can get and does nothing costs it no more than that.
const MaxDebt = 1000

// Tries is how many jobs of a project are looked through for a shard before it is the turn of another project's: one with many jobs that
// have nothing to lend keeps no agent from others.
const Tries = 8

// Account is where a member stands on the clock of its line.
type Account struct {
	Start float64 // where its last turn began
	End   float64 // where that one ends
}

// Charge is what a turn costs: it begins where the member's last turn ended, but not before Floor, and ends Stride later.
type Charge struct{ Floor, Stride float64 }

// WeightStride is how far a turn takes a project.
func WeightStride(weight int) float64 { return DefaultWeight / float64(weight) }

// PriorityStride is how far a turn takes a job.
func PriorityStride(priority int) float64 { return math.Ldexp(1, DefaultPriority-priority) }

// Enter is the account of a member that is new to a line: half a turn after the last one began. It is served before those that have just
// been, and so many that are new, one after the other, still let the others have turns in between.
func Enter(clock, stride float64) Account { return Account{Start: clock, End: clock + stride/2} }

// Cost is what the next turn costs a member. The clock is the latest Start of all in its line.
func Cost(clock, stride float64) Charge { return Charge{Floor: clock - Credit, Stride: stride} }

// After is the account after one more turn.
func (a Account) After(c Charge) Account {
	start := max(a.End, c.Floor)
	return Account{Start: start, End: start + c.Stride}
}

// Held is the account after so many agents have held so many of the member's leases for one more turn's time.
func (a Account) Held(leases, agents int, stride float64) Account {
	a.End = max(a.End, min(a.End+float64(leases)*stride, a.Start+Debt(agents)*stride))
	return a
}

// Debt is how many turns a member may be ahead of its last one, of which so many agents hold something.
func Debt(agents int) float64 { return float64(min(MaxDebt, Credit+agents)) }

// Candidate is a job that may have work, with what is known of it and of its project.
type Candidate struct {
	Project, Job           uuid.UUID
	ProjectTurn, JobTurn   Account
	ProjectClock, JobClock float64
}

// Order puts candidates in the order in which they are asked for work: projects by their turns, and of each one the jobs by theirs, Tries
// at a time. Those that are equal are in the order of their IDs, which is that of their age.
func Order(candidates []Candidate) []Candidate {
	ordered := slices.Clone(candidates)
	slices.SortFunc(ordered, func(a, b Candidate) int {
		return cmp.Or(bytes.Compare(a.Project[:], b.Project[:]), cmp.Compare(a.JobTurn.End, b.JobTurn.End), bytes.Compare(a.Job[:], b.Job[:]))
	})
	round := make(map[uuid.UUID]int, len(ordered)) // of tries, by job
	tried := make(map[uuid.UUID]int)               // by project
	for _, c := range ordered {
		round[c.Job] = tried[c.Project] / Tries
		tried[c.Project]++
	}
	slices.SortStableFunc(ordered, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(round[a.Job], round[b.Job]), cmp.Compare(a.ProjectTurn.End, b.ProjectTurn.End), bytes.Compare(a.Project[:], b.Project[:]))
	})
	return ordered
}

// Share is the part of the turns that a member has while all that are named, itself among them, have work.
func Share(stride float64, all []float64) float64 {
	var sum float64
	for _, s := range all {
		sum += 1 / s
	}
	if sum == 0 {
		return 1
	}
	return min(1, 1/stride/sum)
}
