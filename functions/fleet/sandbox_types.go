package fleet

import (
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/runtime/monitor/threshold"
)

// Limits of what agents report about sandboxes, and of switches.
const (
	MaxBeatSandboxes  = 64  // sandboxes that one heartbeat names; an agent with more sends several
	MaxBeatAlerts     = 8   // alerts of one sandbox in a heartbeat, the latest
	MaxEndReason      = 300 // characters with which an agent says why a sandbox ended
	MaxKillReason     = 500 // characters of the reason for a switch
	MaxWaitingAgents  = 100 // agents that the status of a switch names one by one, those that have not confirmed first
	MaxSandboxSamples = 1000
	// MaxSwitches is how many switches of one project, and of no project, may be on at a time, besides those that hold all of it: a list
	// of them is one page, and no project's owner fills the list of others.
	MaxSwitches = 500
	// FineSamples is how long every sample of a sandbox is kept; then one row of peaks for five minutes stays.
	FineSamples = time.Hour
	// SandboxTTL is how long a sandbox is remembered after it was last heard of, with its samples.
	SandboxTTL = 24 * time.Hour
	// SwitchTTL is how long a switch is remembered that was put off. The audit log keeps it for good.
	SwitchTTL = 90 * 24 * time.Hour
)

// SandboxReport is what an agent says of one of its sandboxes. It is a claim.
type SandboxReport struct {
	ID        uuid.UUID         `json:"id"`
	Lease     uuid.UUID         `json:"lease" doc:"The lease that it works on. A sandbox of another's lease is left out."`
	Level     string            `json:"level" enum:"gvisor,container,wasm,linux,linux-nocgroup,landlock,process"`
	Shard     *int64            `json:"shard,omitempty" minimum:"0" doc:"The shard that it runs now. Left out: none."`
	AgeMillis int64             `json:"age_ms" minimum:"0" maximum:"31536000000" doc:"How long it runs already: clocks may differ."`
	Sample    *threshold.Sample `json:"sample,omitempty" doc:"The latest. Left out: it was not looked at yet."`
	Alerts    []threshold.Alert `json:"alerts,omitempty" maxItems:"8" doc:"The latest."`
	Ended     bool              `json:"ended,omitempty"`
	EndReason string            `json:"end_reason,omitempty" maxLength:"300"`
}

// Sandbox is one execution environment on an agent, as the agent reported it.
type Sandbox struct {
	ID        uuid.UUID         `json:"id"`
	Agent     uuid.UUID         `json:"agent"`
	AgentName string            `json:"agent_name"`
	Lease     uuid.UUID         `json:"lease"`
	Project   uuid.UUID         `json:"project"`
	Job       uuid.UUID         `json:"job"`
	Function  string            `json:"function"`
	Version   int               `json:"version"`
	Level     string            `json:"level" doc:"The isolation that it has, as the agent says."`
	State     string            `json:"state" enum:"running,silent,ended" doc:"silent: no heartbeat has named it for a minute. ended: its agent says so, or none has named it since its lease ended."`
	Shard     *int64            `json:"shard,omitempty" doc:"The shard that it runs now."`
	StartedAt time.Time         `json:"started_at"`
	SeenAt    time.Time         `json:"seen_at" doc:"The last heartbeat that named it."`
	Sample    *threshold.Sample `json:"sample,omitempty" doc:"The latest."`
	Alerts    []threshold.Alert `json:"alerts"`
	Terminate string            `json:"terminate,omitempty" enum:"soft,force" doc:"It was ordered to end: soft after its shard, force at once."`
	EndedAt   *time.Time        `json:"ended_at,omitempty"`
	EndReason string            `json:"end_reason,omitempty"`
}

// SandboxFilter narrows a list of sandboxes. Zero fields match everything.
type SandboxFilter struct {
	Project  uuid.UUID
	Agent    uuid.UUID
	Job      uuid.UUID
	Function string
	Running  bool // only those that run
}

// SandboxSample is what a sandbox was like at a time, or in the five minutes from then on.
type SandboxSample struct {
	At             time.Time             `json:"at" doc:"By the server's clock."`
	Coarse         bool                  `json:"coarse" doc:"Each figure is the peak of the five minutes that begin then."`
	CPUPercent     float64               `json:"cpu_percent"`
	MemoryBytes    int64                 `json:"memory_bytes"`
	WorkspaceBytes int64                 `json:"workspace_bytes"`
	NetworkBytes   int64                 `json:"network_bytes"`
	Network        threshold.NetworkKind `json:"network" enum:"none,own,shared,unknown"`
	Processes      int64                 `json:"processes"`
	OutputBytes    int64                 `json:"output_bytes"`
}

// KillScope is what a switch holds.
type KillScope struct {
	Scope    string     `json:"scope" enum:"everything,project,function"`
	Agent    *uuid.UUID `json:"agent,omitempty" doc:"Only on this agent. Left out: on all."`
	Project  *uuid.UUID `json:"project,omitempty"`
	Function string     `json:"function,omitempty"`
	Version  int        `json:"version,omitempty" doc:"Left out: all versions."`
}

// KillSwitch is a switch: while it is on, nothing that it holds is leased, and agents end what they run of it.
type KillSwitch struct {
	ID uuid.UUID `json:"id"`
	KillScope
	Reason string     `json:"reason"`
	OnBy   string     `json:"on_by"`
	OnAt   time.Time  `json:"on_at"`
	OffBy  string     `json:"off_by,omitempty"`
	OffAt  *time.Time `json:"off_at,omitempty"`
}

// KillStatus says how far a switch has got.
type KillStatus struct {
	KillSwitch
	Silent      bool          `json:"silent" doc:"No lease that it holds is open, no server executes anything of it, and every agent that was heard of in the last minute has confirmed that nothing of it runs."`
	Agents      int           `json:"agents" doc:"Agents that it concerns."`
	Confirmed   int           `json:"confirmed" doc:"Of these, those that have confirmed that nothing of it runs."`
	Unconfirmed int           `json:"unconfirmed" doc:"Of these, those that were heard of in the last minute and have not confirmed."`
	Offline     int           `json:"offline" doc:"Of these, those that have stopped, or were not heard of in the last minute, and have not confirmed. They learn of it when they come back; their leases run out."`
	Leases      int64         `json:"leases" doc:"Open leases that it holds."`
	Sandboxes   int64         `json:"sandboxes" doc:"Sandboxes that it holds and that run, as far as agents have reported."`
	Waiting     []KilledAgent `json:"waiting" doc:"Agents that have not confirmed, at most 100."`
	Running     []ServerRun   `json:"running" doc:"What servers execute of it themselves; they are ending it."`
}

// ServerRun is a batch of shards that a server executes itself.
type ServerRun struct {
	Batch     uuid.UUID `json:"batch"`
	Project   uuid.UUID `json:"project"`
	Job       uuid.UUID `json:"job"`
	Function  string    `json:"function"`
	Version   int       `json:"version"`
	Shards    int       `json:"shards"`
	StartedAt time.Time `json:"started_at"`
}

// KilledAgent is an agent that a switch concerns.
type KilledAgent struct {
	ID          uuid.UUID  `json:"id"`
	Name        string     `json:"name"`
	Seen        bool       `json:"seen" doc:"It was heard of in the last minute and has not said that it stops."`
	LastSeenAt  *time.Time `json:"last_seen_at,omitempty"`
	ConfirmedAt *time.Time `json:"confirmed_at,omitempty"`
	Leases      int64      `json:"leases"`
	Sandboxes   int64      `json:"sandboxes"`
}

// KillOrder tells an agent of a switch that is on: it is to end what of it runs, and to begin nothing of it.
type KillOrder struct {
	ID       uuid.UUID  `json:"id"`
	Scope    string     `json:"scope" enum:"everything,project,function"`
	Project  *uuid.UUID `json:"project,omitempty"`
	Function string     `json:"function,omitempty"`
	Version  int        `json:"version,omitempty" doc:"Left out: all versions."`
}

// TerminateOrder tells an agent to end a sandbox: at once, or after the shard that it runs.
type TerminateOrder struct {
	Sandbox uuid.UUID `json:"sandbox"`
	Force   bool      `json:"force"`
}

// The scopes of a switch.
const (
	ScopeEverything = "everything"
	ScopeProject    = "project"
	ScopeFunction   = "function"
)

// args are the columns of a scope, in the order in which the queries take them.
func (k KillScope) args() []any {
	var function *string
	var version *int
	if k.Function != "" {
		function = &k.Function
	}
	if k.Version != 0 {
		version = &k.Version
	}
	return []any{k.Scope, k.Agent, k.Project, function, version}
}

// check refuses a scope that names too much or too little.
func (k KillScope) check() error {
	bad := func(message string) error {
		return functions.Invalid("bad_scope", message, "name everything, or a project, or a function of a project and, if not all, its version")
	}
	switch {
	case k.Scope != ScopeEverything && k.Scope != ScopeProject && k.Scope != ScopeFunction:
		return bad(fmt.Sprintf("there is no scope %q", k.Scope))
	case (k.Scope == ScopeEverything) != (k.Project == nil):
		return bad("a switch holds everything or names a project")
	case (k.Scope == ScopeFunction) != (k.Function != ""), k.Version < 0, k.Version > 0 && k.Function == "":
		return bad("a function belongs to the scope function, and a version to a function")
	}
	return nil
}

// detail is what the audit log keeps of a switch.
func (k KillScope) detail(reason string) map[string]any {
	return map[string]any{"scope": k.Scope, "agent": k.Agent, "project": k.Project, "function": k.Function, "version": k.Version, "reason": reason}
}

// narrow says whether a switch holds less than everything or a whole project, of all agents. There is one of each of those at most,
// and however many others are on, no limit stands in the way of an emergency.
func (k KillScope) narrow() bool { return k.Agent != nil || k.Scope == ScopeFunction }

// status sums up what is known of the agents that a switch concerns; those that have not confirmed come first.
func (k KillSwitch) status(agents []KilledAgent, runs []ServerRun) KillStatus {
	st := KillStatus{KillSwitch: k, Agents: len(agents), Waiting: []KilledAgent{}, Running: runs}
	for _, a := range agents {
		st.Leases += a.Leases
		st.Sandboxes += a.Sandboxes
		switch {
		case a.ConfirmedAt != nil:
			st.Confirmed++
		case a.Seen:
			st.Unconfirmed++
		default:
			st.Offline++
		}
		if a.ConfirmedAt == nil && len(st.Waiting) < MaxWaitingAgents {
			st.Waiting = append(st.Waiting, a)
		}
	}
	st.Silent = k.OffAt == nil && st.Unconfirmed == 0 && st.Leases == 0 && len(runs) == 0
	return st
}

// Explain says in the explanation of a job that the switch holds it.
func (k KillSwitch) Explain() functions.Reason {
	what, hint := "everything", "ask the operator; ostraka killswitch off ends it"
	switch k.Scope {
	case ScopeProject:
		what, hint = "the project", "ostraka killswitch off --project "+k.Project.String()+" ends it"
	case ScopeFunction:
		what, hint = "the function "+k.Function, "ostraka killswitch off --function "+k.Function+" ends it"
		if k.Version != 0 {
			what, hint = fmt.Sprintf("%s, version %d", what, k.Version), fmt.Sprintf("ostraka killswitch off --function %s@%d ends it", k.Function, k.Version)
		}
	}
	text := fmt.Sprintf("The killswitch is on for %s since %s: nothing of it is lent.", what, k.OnAt.UTC().Format(time.RFC3339))
	if k.Reason != "" {
		text += " Reason: " + k.Reason
	}
	return functions.Reason{Code: "killswitch", Text: text, Hint: hint}
}
