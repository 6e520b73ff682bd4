package verify

import (
	"math"
	"time"
)

// FirstLoan is how many shards an agent that has brought nothing back may hold
// of a job. An honest agent asks for fewer, since it does not know how long they
// take; who never answers keeps no more than these from others.
const FirstLoan = 64

// IdleLeases is how many leases of an agent may end without a single result, one
// after the other, before it gets no leases for a while: a machine may restart
// twice.
const IdleLeases = 3

// FirstPause is how long it gets no leases then; each further idle lease doubles
// it, up to LongestPause: within a day such an agent is back, and by then it has
// taken a shard a few dozen times.
const (
	FirstPause   = time.Minute
	LongestPause = time.Hour
)

// MinOpenLeases is how many leases of a job an agent may have at a time at least,
// and LeasesPerCore how many for each of its cores: each worker has one, and some
// owners have more workers than cores.
const (
	MinOpenLeases = 16
	LeasesPerCore = 4
)

// Loan is what one owner's agents have of a job together.
type Loan struct {
	// First is FirstLoan, unless an installation says otherwise.
	First int64
	// Agents is the number of the owner's agents in the job.
	Agents int64
	// Held is the number of shards that are out, and Credit the sum of theirs.
	Held, Credit int64
}

// Free is how many further shards the owner may be lent. What it may hold grows
// with what it has brought back: it doubles with each loan that came back whole.
// While nothing was lost, each of its agents may begin with First; after that the
// owner as a whole begins anew, with one shard at least.
func (l Loan) Free() int64 {
	agents := max(1, l.Agents)
	if l.Credit < 0 {
		agents = 1
	}
	return max(0, max(1, l.First*agents+l.Credit)-l.Held)
}

// CreditAfter is an agent's credit when it has brought results back, and so many
// shards of its leases died: half of it is gone with the first that does, and
// below zero it falls no further than to where one shard is leased.
func CreditAfter(credit, brought, lost, first int64) int64 {
	credit += brought
	if lost > 0 {
		if credit > 0 {
			credit /= 2
		}
		credit = max(credit-lost, 1-first)
	}
	return credit
}

// ShareCap is how many attempts of a job one owner may lease while agents of others
// have nothing to do: the stated share of them, or an equal part where the owners
// that are there are fewer (0: they are not counted), and one at least. So asking first does not
// decide a job.
func ShareCap(stated float64, attempts int64, owners int) int64 {
	share := stated
	if owners > 0 {
		share = max(stated, 1/float64(owners))
	}
	return max(1, int64(math.Ceil(min(1, share)*float64(attempts)-rounding)))
}

// Pause is how long an agent gets no leases after so many leases in a row that
// ended without a result.
func Pause(idle int) time.Duration {
	if idle < IdleLeases {
		return 0
	}
	pause := FirstPause
	for range min(idle-IdleLeases, 10) {
		pause *= 2
	}
	return min(pause, LongestPause)
}

// Leases may be given back without a result, since owners want their machines for
// themselves at any time: FreeReturns of a job in a row, more than a usual agent has
// leases. Each further one costs a pause, FirstReturnPause at first and doubling up to
// LongestReturnPause: each lease takes a turn of the job and of its project, and an
// agent must not use these up by nothing but asking.
const (
	FreeReturns        = 64
	FirstReturnPause   = time.Second
	LongestReturnPause = 5 * time.Minute
)

// ReturnPause is how long an agent gets no leases of a job of which it gave so many
// leases back in a row without a result.
func ReturnPause(returned int) time.Duration {
	if returned <= FreeReturns {
		return 0
	}
	pause := FirstReturnPause
	for range min(returned-FreeReturns-1, 10) {
		pause *= 2
	}
	return min(pause, LongestReturnPause)
}

// OpenLeases is how many leases an agent with so many cores may have at a time.
func OpenLeases(cores int) int { return max(MinOpenLeases, LeasesPerCore*cores) }

// LostByOwners is the number of owners whose leases must have died with a shard
// before a person must look at it: fewer may keep it from others.
const LostByOwners = 3

// LosesAgents says whether a shard must be looked at, with which so many leases
// of so many owners died: enough leases, of LostByOwners owners, or of all that
// work for the job where they are fewer.
func LosesAgents(leases, most, owners, working int) bool {
	return leases >= most && owners >= min(LostByOwners, max(1, working))
}
