// Package verify decides what becomes of a shard from the attempts made at it
// and from the trust that the agents have earned.
//
// It is pure: the same policy, attempts and evidence give the same verdict, in
// whatever order the attempts come.
package verify

// Policy says how much agreement a shard's result needs.
type Policy struct {
	// Quorum is the number of distinct agents that must give the same answer,
	// 1 to MaxQuorum. It is 0 when None is set.
	Quorum int `json:"quorum,omitempty"`
	// None means no verification: the first answer is believed.
	None bool `json:"none,omitempty"`
	// MaxAttempts bounds the attempts at one shard, 1 to MaxMaxAttempts; with
	// fewer than Quorum no shard could ever be accepted, which Validate
	// refuses. 0 means DefaultMaxAttempts.
	MaxAttempts int `json:"max_attempts,omitempty"`
}

// State says how far an attempt has come. Attempts whose lease has expired or
// was given back are not part of a decision: leave them out.
type State string

// The states of an attempt.
const (
	Leased   State = "leased"   // an agent works on it
	Reported State = "reported" // its result is in
)

// Status is the outcome of a reported attempt, as its supervisor saw it.
type Status string

// The statuses of a reported attempt. All but ok and error say how the machine
// ended it: they are never votes, since honest machines differ in them.
const (
	OK            Status = "ok"             // the function returned a value
	Error         Status = "error"          // the function raised an exception
	Timeout       Status = "timeout"        // out of time on the clock
	CPULimit      Status = "cpu_limit"      // out of processor time
	Memory        Status = "memory"         // out of memory
	ProcessLimit  Status = "process_limit"  // too many processes at a time
	FileLimit     Status = "file_limit"     // too many open files
	OutputLimit   Status = "output_limit"   // it returned too much
	LogLimit      Status = "log_limit"      // it printed too much
	DiskLimit     Status = "disk_limit"     // too many bytes in its workspace
	InodeLimit    Status = "inode_limit"    // too many files and folders in its workspace
	ArtifactLimit Status = "artifact_limit" // too many or too large artifacts
	Killed        Status = "killed"         // it died of a signal, or was stopped
	Denied        Status = "denied"         // a policy on the agent refused to run it
)

// Statuses lists every status of a reported attempt.
func Statuses() []Status {
	return []Status{
		OK, Error, Timeout, CPULimit, Memory, ProcessLimit, FileLimit, OutputLimit,
		LogLimit, DiskLimit, InodeLimit, ArtifactLimit, Killed, Denied,
	}
}

// Attempt is one execution of a shard by one agent.
type Attempt struct {
	ID string
	// Agent may be empty for a Leased attempt where it is not known who has
	// it; each of those counts as another agent.
	Agent  string
	State  State
	Status Status // of a Reported attempt
	// Digest identifies the answer. With status ok it is the digest of the
	// canonical output bytes; with status error that of the exception's type
	// and message, so that a function that always raises can be agreed upon.
	// An answer without a digest has no vote.
	Digest string
}

// Evidence is what a project knows about an agent.
type Evidence struct {
	Passed int64 // answers that other agents confirmed
	Failed int64 // answers that other agents out-voted
	// Caught marks an agent that a person or an earlier decision has cast out;
	// it stays until somebody takes it away.
	Caught bool
}

// Decision says what to do next with a shard.
type Decision string

// The decisions. Recheck belongs to the design and is not yet taken.
const (
	Accept    Decision = "accept"    // Digest is the result
	Replicate Decision = "replicate" // lend Wanted further attempts
	Wait      Decision = "wait"      // enough attempts are out
	Recheck   Decision = "recheck"   // execute it on the server
	Review    Decision = "review"    // a person must look
	Fail      Decision = "fail"      // the function does not do this shard
)

// Verdict is a decision with all that a reader needs to follow it.
type Verdict struct {
	Decision Decision
	// Wanted is the number of further attempts to lend now, on top of those
	// that are out. It is positive only with Replicate.
	Wanted int
	// Status and Digest are the answer that was accepted, or the failure that
	// was settled on. A failure other than error has no digest.
	Status Status
	Digest string
	// Canonical is the lowest attempt ID among those that gave this answer.
	Canonical string
	// Agree are the votes for the answer; Disagree are votes for any other
	// answer of status ok. Before a decision they describe the leading answer.
	Agree    []Vote
	Disagree []Vote
	Reasons  []Reason
}

// Vote is the attempt that speaks for an agent.
type Vote struct {
	Attempt string
	Agent   string
}

// Reason is one step towards a verdict, for people to read.
type Reason struct {
	Code ReasonCode `json:"code"`
	Text string     `json:"text"`
}

// ReasonCode names a kind of reason.
type ReasonCode string

// The codes of reasons.
const (
	ReasonUnverified  ReasonCode = "unverified"   // believed without a check
	ReasonAgreed      ReasonCode = "agreed"       // a quorum gave one answer
	ReasonDiffers     ReasonCode = "differs"      // an agent gave another answer
	ReasonTied        ReasonCode = "tied"         // two answers have as many votes
	ReasonShort       ReasonCode = "short"        // more agreement is needed
	ReasonFailures    ReasonCode = "failures"     // attempts ended without an answer
	ReasonCaught      ReasonCode = "caught"       // a caught agent has no vote
	ReasonRepeated    ReasonCode = "repeated"     // an agent's further attempts do not count
	ReasonUnusable    ReasonCode = "unusable"     // a result without a digest or with an unknown status
	ReasonMaxAttempts ReasonCode = "max_attempts" // no further attempt may be made
	ReasonPolicy      ReasonCode = "policy"       // the policy itself is not usable
)

// Delta is a change of an agent's evidence.
type Delta struct {
	Agent  string
	Passed int64
	Failed int64
}

// Standing says whether an agent's answers count.
type Standing string

// The standings.
const (
	Active Standing = "active" // is lent work and has a vote
	Caught Standing = "caught" // is lent nothing and has no vote
)
