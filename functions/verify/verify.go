// Package verify decides about a shard from its attempts and from the trust that
// the agents have earned.
//
// It is pure: the same policy, attempts and evidence give the same verdict, in
// whatever order the attempts come.
package verify

// Policy says what a shard's result needs before it is accepted: exactly one of
// Quorum, None, TargetError and Recheck is given.
type Policy struct {
	// Quorum is the number of independent agents that must give the same answer,
	// 1 to MaxQuorum.
	Quorum int `json:"quorum,omitempty"`
	// None means no verification: the first answer is believed.
	None bool `json:"none,omitempty"`
	// TargetError is the largest share of wrong results among the accepted ones,
	// MinTargetError to MaxTargetError: see Bound for how it is kept.
	TargetError float64 `json:"target_error,omitempty"`
	// AssumeHostile is the largest share of a job's results that hostile agents
	// may give, MinHostile to MaxHostile; 0 means DefaultHostile. It belongs to
	// TargetError.
	AssumeHostile float64 `json:"assume_hostile,omitempty"`
	// AnswerError is the largest probability with which any result of the job may
	// be wrong, ExactRisk to MaxTargetError. It is no way to verify: TargetError or
	// Recheck say how it is kept, see ForAnswer.
	AnswerError float64 `json:"answer_error,omitempty"`
	// Recheck is empty or RecheckAll: the server executes every shard as well,
	// and its answer is the result.
	Recheck string `json:"recheck,omitempty"`
	// MaxAttempts bounds the attempts at one shard, 1 to MaxMaxAttempts; with
	// fewer than Quorum no shard could ever be accepted, which Validate
	// refuses. 0 means DefaultMaxAttempts.
	MaxAttempts int `json:"max_attempts,omitempty"`
	// Confirm is a condition over outputs, in CEL: a result that fulfils it is
	// executed again before it counts, by the server or, without it, by as many
	// other agents as make an answer credible. It goes with what has results executed
	// again at all: see Audited.
	Confirm string `json:"confirm,omitempty"`
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

// IsLimit says whether an attempt ended at a limit of its function, and not by what
// its machine did.
func (s Status) IsLimit() bool {
	switch s {
	case OK, Error, Killed, Denied:
		return false
	default:
		return true
	}
}

// Attempt is one execution of a shard, by an agent or by the server.
type Attempt struct {
	ID string
	// Server marks an execution by the server itself: its answer is the
	// reference. When it contradicts an agent, Decide asks for a second one.
	Server bool
	// Void marks a result that was taken back when its agent was caught: it has
	// no vote.
	Void bool
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
	// Owner is who runs the agent: the voices of one owner count once. Block is
	// the block of addresses that it speaks from: the voices of agents on
	// probation in one block count once. Where they are empty the agent counts
	// for itself.
	Owner string
	Block string
	// Class is the platform, as the agent claims it (see Machine); empty: it is
	// not known. Classes that disagree as a whole do not accuse one another.
	Class string
}

// Evidence is what a project knows about an agent.
type Evidence struct {
	Passed int64 // answers that other agents confirmed
	Failed int64 // answers that other agents out-voted
	// Caught marks an agent that a person or an earlier decision has cast out;
	// it stays until somebody takes it away.
	Caught bool
	// SinceFailure is the number of audits that it has passed since one failed,
	// or since it joined. Below ProbationAudits it is on probation.
	SinceFailure int64
	// Cluster names agents that gave the same wrong answer (see Clusters): their
	// voices count once. It is empty for all others.
	Cluster string
	// Record is the number of its answers that were confirmed since the last time
	// that it was excused for its platform, or since it joined: see isPlatform.
	Record int64
	// Vouched is the number of audits that it has passed before the server, or before
	// owners that were known themselves: see Known.
	Vouched int64
}

// Known says whether the agent, or its owner (see Among), has a record that it cannot
// have made with accomplices. Where no server executes shards only votes of such agents speak
// against others.
func (e Evidence) Known() bool { return e.Vouched >= ProbationAudits }

// OnProbation says whether an agent is new or was caught lately.
func (e Evidence) OnProbation() bool { return e.SinceFailure < ProbationAudits }

// Decision says what to do next with a shard.
type Decision string

// The decisions.
const (
	Accept    Decision = "accept"    // Digest is the result
	Replicate Decision = "replicate" // lend Wanted further attempts
	Wait      Decision = "wait"      // enough attempts are out
	Recheck   Decision = "recheck"   // execute it on the server
	Review    Decision = "review"    // a person must look
	Fail      Decision = "fail"      // the function does not do this shard
)

// Decisions lists every decision.
func Decisions() []Decision { return []Decision{Accept, Replicate, Wait, Recheck, Review, Fail} }

// Verdict is a decision with all that a reader needs to follow it.
type Verdict struct {
	Decision Decision
	// Provisional belongs to Accept: the result is taken into account, but is not
	// final. It becomes so when its window passes, see Bound.
	Provisional bool
	// Proven says that the server's own answer, which it gave as often as Decide
	// asked for, is the one that was accepted or failed on.
	Proven bool
	// Hearsay says that nobody but newcomers decided under a policy whose results are
	// audited: fewer than MinSupport of the voices are of agents that are Known. The
	// answer counts, and what differs is taken back, but it is evidence for or against
	// nobody: accomplices who ask for work more often than others are the majority in
	// a shard whenever they like.
	Hearsay bool
	// Divergence says why those who disagree are not to blame. Their results must
	// not become final all the same, see Tainted.
	Divergence Divergence
	// Excused are those who disagree since their platform does, where the verdict is Proven.
	Excused []Vote
	// Wanted is the number of further attempts to lend now, on top of those
	// that are out. It is positive only with Replicate.
	Wanted int
	// Status and Digest are the answer that was accepted, or the failure that
	// was settled on. A failure other than error has no digest.
	Status Status
	Digest string
	// Canonical is the lowest attempt ID among those that gave this answer; the
	// server's is taken only where no agent gave it.
	Canonical string
	// Agree are the agents' votes for the answer; Disagree are votes for any
	// other answer of status ok, and for any other answer where the verdict is
	// Proven. Before a decision they describe the leading answer.
	Agree    []Vote
	Disagree []Vote
	// Voices is how many of those who agree are independent.
	Voices  int
	Reasons []Reason
}

// Divergence says that answers differ without anybody being to blame.
type Divergence string

// The kinds of divergence.
const (
	// Platform: agents of different owners on one class of platforms agree with
	// one another, and all others with one another.
	Platform Divergence = "platform"
	// Unstable: the server's own answers differ, so that the function does not
	// give one answer.
	Unstable Divergence = "unstable"
)

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
	ReasonVoid        ReasonCode = "void"         // a result that was taken back has no vote
	ReasonProvisional ReasonCode = "provisional"  // accepted, and final when later audits have passed
	ReasonCredible    ReasonCode = "credible"     // enough independent agents gave one answer
	ReasonDependent   ReasonCode = "dependent"    // agents that belong together count once
	ReasonServer      ReasonCode = "server"       // the server's own answer decides
	ReasonRecheck     ReasonCode = "recheck"      // the server is to execute the shard
	ReasonPlatform    ReasonCode = "platform"     // platforms differ, nobody is to blame
	ReasonUnstable    ReasonCode = "unstable"     // the server's own answers differ
	ReasonConfirm     ReasonCode = "confirm"      // the result matters, and is executed again
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
	Active Standing = "active" // gets leases and has a vote
	Caught Standing = "caught" // gets no leases and has no vote
)
