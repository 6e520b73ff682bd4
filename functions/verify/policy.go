package verify

import (
	"fmt"
)

// MaxQuorum is the largest quorum, in agents. With 10 % of hostile agents that
// agree on the same wrong answer, five already bring a wrong accept below one
// in 10,000; sixteen leaves room for those who want more and keeps a typing
// error from costing a thousandfold.
const MaxQuorum = 16

// MaxMaxAttempts is the largest number of attempts at one shard: twice the
// largest quorum, so that as many bad attempts as good ones can be borne.
const MaxMaxAttempts = 2 * MaxQuorum

// MinTargetError and MaxTargetError bound Policy.TargetError. Below one in a
// million nearly every result of a job would be executed twice, which
// Policy.Recheck says more plainly; above one half there is nothing to verify.
const (
	MinTargetError = 1e-6
	MaxTargetError = 0.5
)

// DefaultTargetError is what a policy means that asks for a bound without a
// number, and DefaultHostile the share of hostile agents that it assumes.
const (
	DefaultTargetError = 1e-3
	DefaultHostile     = 0.1
)

// MinHostile and MaxHostile bound Policy.AssumeHostile: below one in a thousand
// no verification would be worth its price, and from one half on a majority can
// be hostile, so that no vote means anything.
const (
	MinHostile = 0.001
	MaxHostile = 0.49
)

// RecheckAll is the value of Policy.Recheck that has the server execute every
// shard as well.
const RecheckAll = "all"

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
// nobody has answered fails: one more than the quorum. Where the policy is
// Independent, those of one owner count once. As many machines must
// fail as would have to agree, and one unlucky machine is forgiven; a function
// that always runs out of time stops costing soon.
func (p Policy) FailureLimit() int { return min(p.quorum()+1, p.maxAttempts()) }

// Independent says whether attempts at a shard must come from different owners
// to count. Where the first answer is believed anyhow, they need not: who trusts
// all agents may have several of one owner try.
func (p Policy) Independent() bool { return !p.None && p.Quorum != 1 }

// Stated is the share of a job's results that hostile agents are assumed to give at
// most.
func (p Policy) Stated() float64 {
	if p.AssumeHostile == 0 {
		return DefaultHostile
	}
	return p.AssumeHostile
}

// Audited says whether results are checked by audits or by the server, and not
// only by agents against one another.
func (p Policy) Audited() bool { return p.TargetError != 0 || p.Recheck != "" }

// Draws says whether some of the results are drawn for audits by the job's secret.
func (p Policy) Draws() bool { return p.TargetError > 0 || p.Quorum >= 2 }

// Validate says why a policy is not usable.
func (p Policy) Validate() error {
	if err := p.oneWay(); err != nil {
		return err
	}
	switch {
	case p.AnswerError != 0 && !(p.AnswerError >= ExactRisk && p.AnswerError <= MaxTargetError):
		return fmt.Errorf("answer_error %v is not between %v and %v", p.AnswerError, ExactRisk, MaxTargetError)
	case p.AnswerError != 0 && p.TargetError == 0 && p.Recheck == "":
		return fmt.Errorf("answer_error %v says how certain an answer is to be, and neither target_error nor recheck says how", p.AnswerError)
	case p.Confirm != "" && !p.Audited():
		return fmt.Errorf("confirm says which results are executed once more before they count: it goes with a target_error, an answer_error or recheck = %q", RecheckAll)
	case p.Quorum < 0 || p.Quorum > MaxQuorum:
		return fmt.Errorf("quorum %d is not between 1 and %d", p.Quorum, MaxQuorum)
	case p.TargetError != 0 && !(p.TargetError >= p.leastError() && p.TargetError <= MaxTargetError):
		return fmt.Errorf("target_error %v is not between %v and %v", p.TargetError, p.leastError(), MaxTargetError)
	case p.AssumeHostile != 0 && p.TargetError == 0:
		return fmt.Errorf("assume_hostile says what a target_error is kept against: give one, or leave it out")
	case p.AssumeHostile != 0 && !(p.AssumeHostile >= MinHostile && p.AssumeHostile <= MaxHostile):
		return fmt.Errorf("assume_hostile %v is not between %v and %v", p.AssumeHostile, MinHostile, MaxHostile)
	case p.Recheck != "" && p.Recheck != RecheckAll:
		return fmt.Errorf("recheck %q is not known: write %q, or leave it out", p.Recheck, RecheckAll)
	case p.MaxAttempts < 0 || p.MaxAttempts > MaxMaxAttempts:
		return fmt.Errorf("max_attempts %d is not between 1 and %d (0 means the default)", p.MaxAttempts, MaxMaxAttempts)
	case p.maxAttempts() < p.Quorum:
		return fmt.Errorf("max_attempts %d is less than the quorum %d, so no shard could be accepted: raise it", p.MaxAttempts, p.Quorum)
	}
	return nil
}

// oneWay refuses a policy that does not say exactly one way to verify.
func (p Policy) oneWay() error {
	ways := 0
	for _, given := range []bool{p.Quorum != 0, p.None, p.TargetError != 0, p.Recheck != ""} {
		if given {
			ways++
		}
	}
	switch {
	case ways == 0:
		return fmt.Errorf("no way to verify is given (a quorum is between 1 and %d): give one of quorum, target_error, recheck and none", MaxQuorum)
	case ways > 1:
		return fmt.Errorf("more than one of quorum, target_error, recheck and none is given: leave all but one out")
	}
	return nil
}

// quorum is the number of agents that must give the same answer for it to be
// final without the server and without later audits. With a target error it may
// be more than can be asked; where the server cannot decide, a person does then.
func (p Policy) quorum() int {
	switch {
	case p.TargetError != 0:
		return min(Derive(p).Voices, MaxQuorum)
	case p.Quorum == 0:
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

// Initial returns how many attempts of a new shard to lend: with a target error
// one, since others are only asked where they are needed.
func (p Policy) Initial() int {
	if p.TargetError != 0 {
		return 1
	}
	return p.quorum()
}
