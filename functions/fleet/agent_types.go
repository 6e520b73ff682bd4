package fleet

import (
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions/verify"
)

// AgentState says what an agent may do. Whether it has accepted the EULA stands beside it.
type AgentState string

// The states of an agent.
const (
	AgentPending     AgentState = "pending"     // it has enrolled and waits for somebody to approve it
	AgentActive      AgentState = "active"      // it may be lent work
	AgentDraining    AgentState = "draining"    // it finishes what it has and gets no more leases
	AgentQuarantined AgentState = "quarantined" // it gets no leases, and its leases have ended
	AgentRevoked     AgentState = "revoked"     // its keys are refused; this is final
)

// AgentStates lists every state of an agent.
func AgentStates() []AgentState {
	return []AgentState{AgentPending, AgentActive, AgentDraining, AgentQuarantined, AgentRevoked}
}

// Platform is what an agent says about its machine. It is a claim.
type Platform struct {
	OS          string `json:"os" maxLength:"100"`
	Arch        string `json:"arch" maxLength:"100"`
	Interpreter string `json:"interpreter" maxLength:"200"`
	Libc        string `json:"libc" maxLength:"100"`
	CPUs        int    `json:"cpus" minimum:"0" maximum:"65536"`
	MemoryBytes int64  `json:"memory_bytes" minimum:"0"`
	Agent       string `json:"agent" maxLength:"100" doc:"Version of the agent."`
}

// Agent is a machine that polls for work.
type Agent struct {
	ID           uuid.UUID     `json:"id"`
	Name         string        `json:"name" doc:"As its owner calls it: a claim."`
	State        AgentState    `json:"state" enum:"pending,active,draining,quarantined,revoked"`
	StateReason  string        `json:"state_reason,omitempty" doc:"Why the agent is in this state, as whoever decided it said."`
	StateAt      time.Time     `json:"state_at" doc:"Since when."`
	Owner        string        `json:"owner,omitempty" doc:"Whose machine it is: what an operator has decided, else what the project's token says. Never what the agent says."`
	Isolation    string        `json:"isolation" doc:"The level that its sandbox proved: a claim."`
	MinIsolation string        `json:"min_isolation" doc:"The weakest level at which its owner lets anything run."`
	Meter        int           `json:"meter,omitempty" doc:"The version of the meter with which it executes functions in WebAssembly; left out: it executes none."`
	Runtimes     string        `json:"runtimes,omitempty" doc:"The platform for which it executes functions in runtimes with native code, such as linux/amd64; left out: it executes none."`
	Projects     []uuid.UUID   `json:"projects,omitempty" doc:"The only projects that its owner works for; left out: all."`
	Volumes      []AgentVolume `json:"volumes,omitempty" doc:"The folders that its owner lets functions read."`
	Platform     Platform      `json:"platform"`
	CreatedAt    time.Time     `json:"created_at"`
	LastSeenAt   *time.Time    `json:"last_seen_at,omitempty"`
	ShardsDone   int64         `json:"shards_done" doc:"Since its last start: a claim."`
	Idle         *Idle         `json:"idle,omitempty" doc:"Why it has no work, as it said last."`
	Host         *Host         `json:"host,omitempty" doc:"How its machine is, as it said last. Operators see it."`
	EULADigest   string        `json:"eula_digest,omitempty" doc:"The agreement that it has accepted last."`
	Duplicate    *Duplicate    `json:"duplicate,omitempty" doc:"When two processes were last found to use its key."`
}

// ProjectAgent is an agent with the evidence that one project has about it.
type ProjectAgent struct {
	Agent
	Excluded       bool       `json:"excluded" doc:"The project lends it nothing."`
	ExcludedReason string     `json:"excluded_reason,omitempty"`
	Passed         int64      `json:"passed" doc:"Shards on which it agreed with what was accepted. Like all that counts for or against it, half of it fades in 30 days."`
	Failed         int64      `json:"failed" doc:"Shards on which it contradicted what was accepted; the last one is never forgotten."`
	CaughtAt       *time.Time `json:"caught_at,omitempty"`
	Reason         string     `json:"reason,omitempty"`
	AuditsPassed   int64      `json:"audits_passed" doc:"Results that were audited and confirmed, altogether."`
	AuditsFailed   int64      `json:"audits_failed" doc:"Results that were audited and proven wrong."`
	SinceFailure   int64      `json:"since_failure" doc:"Audits passed since the last that failed, as far as they have not faded."`
	Probation      bool       `json:"probation" doc:"Fewer than 10 audits passed since it joined or failed one: more of its results are audited, and agents of one block of addresses count as one voice."`
	LastFailedAt   *time.Time `json:"last_failed_at,omitempty"`
}

// agentRow is an agent as the database shows it.
type agentRow struct {
	ID               uuid.UUID
	Name             string
	State            AgentState
	StateReason      string
	StateAt          time.Time
	Owner            string
	Isolation        string
	MinIsolation     string
	Meter            int
	Runtimes         string
	Projects         []uuid.UUID
	Volumes          []AgentVolume
	Platform         Platform
	CreatedAt        time.Time
	LastSeenAt       *time.Time
	Host             *Host
	ShardsDone       int64
	IdleCode         string
	IdleText         string
	IdleSeconds      int64
	DuplicateAt      *time.Time
	DuplicateAddress string
	EULADigest       string `db:"eula_digest"`
}

// agent is the agent as its readers see it.
func (r agentRow) agent() Agent {
	a := Agent{
		ID: r.ID, Name: r.Name, State: r.State, StateReason: r.StateReason, StateAt: r.StateAt, Owner: r.Owner,
		Isolation: r.Isolation, MinIsolation: r.MinIsolation, Meter: r.Meter, Runtimes: r.Runtimes, Projects: r.Projects, Volumes: r.Volumes, Platform: r.Platform,
		CreatedAt: r.CreatedAt, LastSeenAt: r.LastSeenAt, ShardsDone: r.ShardsDone, Host: r.Host, EULADigest: r.EULADigest,
		Duplicate: duplicateOf(r.DuplicateAt, r.DuplicateAddress),
	}
	if r.IdleCode != "" {
		a.Idle = &Idle{Code: r.IdleCode, Text: r.IdleText, Seconds: r.IdleSeconds}
	}
	return a
}

// duplicateOf is what is told of a key that works from two addresses.
func duplicateOf(at *time.Time, address string) *Duplicate {
	if at == nil {
		return nil
	}
	return &Duplicate{At: *at, Address: address}
}

// Enrolment is what an agent says of itself when it joins.
type Enrolment struct {
	PublicKey []byte
	Name      string
	Isolation string
	Meter     int    // of functions in WebAssembly; 0: it executes none
	Runtimes  string // the platform for which it executes functions in runtimes; empty: it executes none
	Platform  Platform
	EULA      *Acceptance
	Server    string // the origin by which the agent knows the server; "" from agents of before
	Nonce     string // of a Challenge; "" from agents of before
}

// Limits of a heartbeat.
const (
	MaxBeatLeases = 64  // leases that one heartbeat names
	MaxIdleText   = 300 // characters with which an agent says why it has no work
	// MaxAgentProjects is how many projects the owner of an agent may name as the only ones that it works for.
	MaxAgentProjects = 256
)

// Heartbeat is what an agent reports from time to time. Everything in it is a claim.
type Heartbeat struct {
	Leases     []uuid.UUID     `json:"leases" maxItems:"64" doc:"The leases that the agent works on. Their deadlines move."`
	ShardsDone int64           `json:"shards_done" minimum:"0" doc:"Shards executed since the agent's start."`
	Host       *Host           `json:"host,omitempty" doc:"How the machine is. Left out: nothing is kept."`
	Idle       *Idle           `json:"idle,omitempty" doc:"Why the agent has no work. Left out: it works."`
	Sandboxes  []SandboxReport `json:"sandboxes,omitempty" maxItems:"64" doc:"The agent's sandboxes, and those that have ended since the last heartbeat."`
	CarriedOut string          `json:"carried_out,omitempty" maxLength:"32" doc:"The revision of the directives that the agent has carried out."`
	Wishes     *AgentWishes    `json:"wishes,omitempty" doc:"What the agent's owner allows now. Left out: what was said last goes on."`
}

// AgentWishes are what the owner of an agent allows. Dispatch respects them.
type AgentWishes struct {
	Projects     []uuid.UUID `json:"projects,omitempty" maxItems:"256" doc:"The only projects that the agent works for. Left out or empty: all that want it."`
	Isolation    string      `json:"isolation,omitempty" enum:"gvisor,container,linux,linux-nocgroup,landlock,process" doc:"The level that the agent has proved since its start. Left out: the one that it enrolled with."`
	MinIsolation string      `json:"min_isolation,omitempty" enum:"gvisor,container,wasm,linux,linux-nocgroup,landlock,process" doc:"The weakest level at which the owner lets anything run. Left out: process."`
	Meter        int         `json:"meter,omitempty" minimum:"0" maximum:"1000000" doc:"The version of the meter with which the agent executes functions in WebAssembly. It is lent them where the server has the same. Left out: none."`
	Runtimes     string      `json:"runtimes,omitempty" maxLength:"40" doc:"The platform for which the agent executes functions in runtimes with native code, such as linux/amd64. Left out: none."`

	Volumes []AgentVolume `json:"volumes,omitempty" maxItems:"32" doc:"The folders that functions may have on the machine. The agent is lent functions that want volumes where it has them all. Left out: none."`
}

// Directives are what the server wants of an agent.
type Directives struct {
	EndedLeases []uuid.UUID      `json:"ended_leases" doc:"Leases that no longer count: stop working on them."`
	Stop        bool             `json:"stop" doc:"The agent is to stop taking work."`
	State       AgentState       `json:"state" enum:"pending,active,draining,quarantined,revoked" doc:"What the agent may do now. In every state but active, asking for work is refused."`
	Reason      string           `json:"reason,omitempty" doc:"Why, as whoever decided it said."`
	EULA        *EULAReference   `json:"eula,omitempty" doc:"The agreement that must be accepted before there is any work. Left out: it is accepted."`
	Switches    []KillOrder      `json:"switches,omitempty" doc:"The killswitch: end what of this runs, and begin nothing of it, for as long as it stands here."`
	Terminate   []TerminateOrder `json:"terminate,omitempty" doc:"Sandboxes to end."`
	Revision    string           `json:"revision,omitempty" doc:"What the directives are called: give it as known when asking again, and confirm it when they are carried out. Leases that have ended do not change it."`
	At          time.Time        `json:"at" doc:"When the server looked, by its clock: do not go back to older directives."`
	Duplicate   *Duplicate       `json:"duplicate,omitempty" doc:"Another process was found to use this agent's key. Left out: none was, lately."`
	Logs        []LogHead        `json:"logs,omitempty" doc:"The heads of the logs that concern the agent, for it to co-sign: the server's own, and those of the projects whose leases the heartbeat names. Heartbeats alone bring them."`

	// LeaseProjects are the projects of the leases that count, in no order.
	LeaseProjects []uuid.UUID `json:"-"`
}

// LogHead is the head of a log as agents are shown it. It may be some seconds old, and others may be shown a later one.
type LogHead struct {
	Project    *uuid.UUID    `json:"project,omitempty" doc:"Whose log it is. Left out: the server's own."`
	Checkpoint string        `json:"checkpoint" doc:"A C2SP tlog-checkpoint: a signed note." maxLength:"32768"`
	Key        string        `json:"key" doc:"What verifies it, as C2SP signed-note writes it. Keep the first, and believe no other; since the log began anew it has another name, and the same key behind it." maxLength:"300"`
	Restart    *RestartProof `json:"restart,omitempty" doc:"What says that the log began anew, the last time that it did. Left out: it never did."`
}

// RestartProof is the record with which a log began anew.
type RestartProof struct {
	Record string `json:"record" maxLength:"8192" doc:"Its canonical bytes: the reason, what was restored, and what is known to be lost."`
	Proof  string `json:"proof" maxLength:"40960" doc:"A C2SP tlog-proof that the log has it under its new name."`
}

// EULAReference names one text of the agreement between the operator of a server and the owner of an agent.
type EULAReference struct {
	Version string `json:"version" maxLength:"40"`
	Digest  string `json:"digest" doc:"SHA-256 of the text, in hexadecimal."`
}

// Duplicate says that two processes were found to use one agent's key.
type Duplicate struct {
	At      time.Time `json:"at"`
	Address string    `json:"address,omitempty" doc:"Where the other one spoke from, as the server saw it: of a proxy where there is one."`
}

// endsLeases says whether agents in the state lose their leases.
func (s AgentState) endsLeases() bool { return s == AgentQuarantined || s == AgentRevoked }

// MayFinish says whether agents in the state may finish their leases.
func (s AgentState) MayFinish() bool { return s == AgentActive || s == AgentDraining }

// Acceptance is the owner of an agent accepting an agreement, signed by the agent's key over statement.Acceptance.
type Acceptance struct {
	Version    string    `json:"version" maxLength:"40"`
	Digest     string    `json:"digest" minLength:"64" maxLength:"64" doc:"SHA-256 of the text that was accepted, in hexadecimal."`
	AcceptedAt time.Time `json:"accepted_at" doc:"By the agent's clock, in whole seconds: it is part of what is signed, and decides nothing."`
	Signature  []byte    `json:"signature" doc:"Ed25519 signature by the agent's key over the lines ostraka-eula/1, the public key in hexadecimal, version, digest and accepted_at in RFC 3339 and UTC, each ended by a line feed."`
}

// MaxLeaseWait is how long a poll may stay open.
const MaxLeaseWait = 60 * time.Second

// Machine is what tells an agent's platform.
func (p Platform) Machine() verify.Machine {
	return verify.Machine{System: p.OS, Arch: p.Arch, Libc: p.Libc, Interpreter: p.Interpreter}
}
