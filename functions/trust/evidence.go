package trust

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/trust/sql"
	"github.com/ostraka/ostraka/functions/verify"
)

// errCaughtMeanwhile says that an agent was caught while its results were being weighed: they must be weighed again.
var errCaughtMeanwhile = errors.New("the agent was caught meanwhile")

// Count is how an agent's row of trust changes.
type Count struct {
	verify.Delta
	auditsPassed int64
	AuditsFailed int64
	vouched      int64 // of the audits that were passed: before the server, or before owners with a record
	// provisional is how many results of the agent are accepted into its window. Nothing may be known against it by then.
	provisional int64
	audited     bool   // some result of the agent is accepted and audited at once
	Taint       string // why its results that are not final are opened again; empty: they are not
}

// CaughtAgent is an agent whom the evidence has just spoken against.
type CaughtAgent struct {
	trustRow
	reason string
}

// Judged is what followed from the evidence.
type Judged struct {
	Caught []CaughtAgent
	Steps  []functions.Step
}

// InOrder are the agents by ID: all steps lock and write in one order.
func InOrder[V any](agents map[uuid.UUID]V) []uuid.UUID {
	return slices.SortedFunc(maps.Keys(agents), func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })
}

// AddEvidence adds to the agents' evidence, in the order of their IDs, and marks those whom it speaks against: they get no leases any
// more. Their leases are taken back by the revoke step, their results that are not final by the taint step. Then it gathers results that
// were accepted provisionally in the agents' windows, and writes audits that were drawn or have ended.
func (s *Service) AddEvidence(ctx context.Context, tx *store.Tx, d Settlement) (j Judged, err error) {
	if d, err = d.forgive(ctx, tx); err != nil {
		return j, err
	}
	if err := d.lockAudits(ctx, tx); err != nil {
		return j, err
	}
	agents := InOrder(d.Counts)
	for _, agent := range agents {
		c := d.Counts[agent]
		row, _, err := store.One[trustRow](ctx, tx, sql.AddEvidence, agent, c.Passed, c.Failed, c.auditsPassed, c.AuditsFailed, d.Job, c.vouched)
		if err != nil {
			return j, err
		}
		if row.Caught && (c.provisional > 0 || c.audited) {
			return j, errCaughtMeanwhile
		}
		standing, reason := verify.StandingOf(row.evidence(false))
		if standing == verify.Caught && !row.Caught {
			if _, err := store.Exec(ctx, tx, sql.CatchAgent, agent, reason); err != nil {
				return j, err
			}
			j.Caught = append(j.Caught, CaughtAgent{trustRow: row, reason: reason})
			j.Steps = append(j.Steps, stepargs.RevokeArgs{Project: d.Project, Agent: agent})
			c.Taint = reason
		}
		if c.Taint != "" {
			steps, err := d.taint(ctx, tx, agent, c)
			if err != nil {
				return j, err
			}
			j.Steps = append(j.Steps, steps...)
		}
	}
	if d.platforms || len(d.excused) > 0 {
		j.Steps = append(j.Steps, stepargs.ComparePlatformsArgs{Project: d.Project, Job: d.Job, Excused: d.excused})
	}
	if err := d.addWrongAlike(ctx, tx); err != nil {
		return j, err
	}
	claims, err := d.noteClaims(ctx, tx)
	if err != nil {
		return j, err
	}
	j.Steps = append(j.Steps, claims...)
	for _, agent := range agents {
		step, err := d.enterWindow(ctx, tx, agent)
		if err != nil {
			return j, err
		}
		j.Steps = append(j.Steps, step...)
	}
	if err := d.drawAudits(ctx, tx); err != nil {
		return j, err
	}
	steps, err := d.endAudits(ctx, tx)
	if err != nil {
		return j, err
	}
	excuse, err := d.noteUnsteady(ctx, tx)
	j.Steps = slices.Concat(j.Steps, steps, excuse)
	return j, err
}

// enterWindow gathers the agent's results that were accepted provisionally.
func (d Settlement) enterWindow(ctx context.Context, tx *store.Tx, agent uuid.UUID) ([]functions.Step, error) {
	n := d.Counts[agent].provisional
	if n == 0 {
		return nil, nil
	}
	type window struct {
		Number int64
		State  string
	}
	var w window
	for found := false; !found; {
		var err error
		if w, found, err = store.One[window](ctx, tx, sql.EnterWindow, d.Job, agent, n, d.Terms.Bound.Window); err != nil {
			return nil, err
		}
	}
	for i := range d.Changes {
		if c := &d.Changes[i]; c.Gathered && *c.Agent == agent {
			c.Awaits = &w.Number
		}
	}
	if w.State != windowClosing {
		return nil, nil
	}
	return []functions.Step{stepargs.CloseWindowArgs{Project: d.Project, Job: d.Job, Agent: agent, Window: w.Number}}, nil
}

// OpenAudit is an audit that was drawn and has not ended.
type OpenAudit struct {
	Shard   int64
	AgentID uuid.UUID
	Number  int64 // of its window; 0: it was drawn at once
	// Rate is the one with which it was drawn at once; 0: it was asked for, or is one of a window, whose results were drawn before.
	Rate verify.Rate `db:"-"`
}

// AuditVerdict is how an audit ended.
type AuditVerdict struct {
	OpenAudit
	State  string
	Reason string
}

// The ends of an audit.
const (
	AuditPassed = "passed"
	AuditFailed = "failed"
	AuditVoid   = "void" // nothing was found out
)

// AuditOutcomes lists every end of an audit.
func AuditOutcomes() []string { return []string{AuditPassed, AuditFailed, AuditVoid} }

func (d Settlement) drawAudits(ctx context.Context, tx *store.Tx) error {
	n := len(d.draws)
	if n == 0 {
		return nil
	}
	agents, shards, numbers, rates := make([]uuid.UUID, n), make([]int64, n), make([]int64, n), make([]int16, n)
	for i, a := range d.draws {
		agents[i], shards[i], numbers[i], rates[i] = a.AgentID, a.Shard, a.Number, int16(a.Rate)
	}
	_, err := store.Exec(ctx, tx, sql.DrawAudits, d.Job, agents, shards, numbers, rates)
	return err
}

// lockAudits lets one transaction at a time end audits of a job, so that of two that end the last ones which windows wait for the second one
// sees both. It comes before agents' trust in the order of locks.
func (d Settlement) lockAudits(ctx context.Context, tx *store.Tx) error {
	if len(d.Verdicts) == 0 {
		return nil
	}
	_, _, err := store.Value[bool](ctx, tx, sql.LockAudits, d.Job)
	return err
}

// endAudits writes how audits ended, and finds what follows for their windows.
func (d Settlement) endAudits(ctx context.Context, tx *store.Tx) (steps []functions.Step, err error) {
	n := len(d.Verdicts)
	if n == 0 {
		return nil, nil
	}
	agents, shards, states, reasons := make([]uuid.UUID, n), make([]int64, n), make([]string, n), make([]string, n)
	windows := map[windowID]*windowCount{}
	for i, v := range d.Verdicts {
		agents[i], shards[i], states[i], reasons[i] = v.AgentID, v.Shard, v.State, v.Reason
		if v.Number > 0 {
			id := windowID{v.AgentID, v.Number}
			if windows[id] == nil {
				windows[id] = &windowCount{}
			}
			windows[id].add(v.State)
		}
	}
	if _, err := store.Exec(ctx, tx, sql.DecideAudits, d.Job, agents, shards, states, reasons); err != nil {
		return nil, err
	}
	for _, id := range slices.SortedFunc(maps.Keys(windows), windowID.compare) {
		step, err := windows[id].write(ctx, tx, d, id)
		if err != nil {
			return nil, err
		}
		steps = append(steps, step...)
	}
	passed, err := d.passWindows(ctx, tx, agents)
	return append(steps, passed...), err
}
