package verify

import "fmt"

// MaxQuorum is the largest quorum, in agents. With 10 % of hostile agents that
// agree on the same wrong answer, five already bring a wrong accept below one
// in 10,000; sixteen leaves room for those who want more and keeps a typing
// error from costing a thousandfold.
const MaxQuorum = 16

// MaxMaxAttempts is the largest number of attempts at one shard: twice the
// largest quorum, so that as many bad attempts as good ones can be borne.
const MaxMaxAttempts = 2 * MaxQuorum

// DefaultMaxAttempts is the number of attempts at one shard before a person is
// asked, for a policy that does not say: twice the quorum, so that every agent
// of the quorum may be matched by a bad one, and four more so that a small
// quorum also bears a run of bad luck. With 30 % of bad attempts a quorum of 2
// runs out about once in 800 shards, with 10 % less than once in a million.
func DefaultMaxAttempts(quorum int) int {
	return min(2*quorum+4, MaxMaxAttempts)
}

// FailureLimit is the number of attempts without an answer (exceptions that
// differ, time-outs, memory kills and the like) after which a shard that
// nobody has answered fails: one more than the quorum. As many machines must
// fail as would have to agree, and one unlucky machine is forgiven; a function
// that always runs out of time stops costing soon.
func (p Policy) FailureLimit() int { return min(p.quorum()+1, p.maxAttempts()) }

// Validate says why a policy is not usable.
func (p Policy) Validate() error {
	switch {
	case p.None && p.Quorum != 0:
		return fmt.Errorf("verification is none and has a quorum of %d: leave one of the two out", p.Quorum)
	case !p.None && (p.Quorum < 1 || p.Quorum > MaxQuorum):
		return fmt.Errorf("quorum %d is not between 1 and %d", p.Quorum, MaxQuorum)
	case p.MaxAttempts < 0 || p.MaxAttempts > MaxMaxAttempts:
		return fmt.Errorf("max_attempts %d is not between 1 and %d (0 means the default)", p.MaxAttempts, MaxMaxAttempts)
	case p.maxAttempts() < p.quorum():
		return fmt.Errorf("max_attempts %d is less than the quorum %d, so no shard could be accepted: raise it", p.MaxAttempts, p.Quorum)
	}
	return nil
}

func (p Policy) quorum() int {
	if p.None {
		return 1
	}
	return p.Quorum
}

func (p Policy) maxAttempts() int {
	if p.MaxAttempts == 0 {
		return DefaultMaxAttempts(p.quorum())
	}
	return p.MaxAttempts
}

// Initial returns how many attempts of a new shard to lend.
func (p Policy) Initial() int { return p.quorum() }
