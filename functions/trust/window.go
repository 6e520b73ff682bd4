package trust

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/trust/sql"
	"github.com/ostraka/ostraka/functions/verify"
)

// The states of a window: it takes results in, its audits are drawn, all of them have passed, or one has failed.
const (
	windowOpen    = "open"
	windowClosing = "closing"
	windowPassed  = "passed"
	windowFailed  = "failed"
)

// windowID names a window of a job.
type windowID struct {
	agent  uuid.UUID
	number int64
}

func (a windowID) compare(b windowID) int {
	return cmp.Or(bytes.Compare(a.agent[:], b.agent[:]), cmp.Compare(a.number, b.number))
}

// windowCount counts audits of a window that have ended.
type windowCount struct {
	passed, ended int64
	failed        bool
}

func (c *windowCount) add(state string) {
	c.ended++
	switch state {
	case AuditPassed:
		c.passed++
	case AuditFailed:
		c.failed = true
	}
}

func (c *windowCount) write(ctx context.Context, tx *store.Tx, d Settlement, id windowID) ([]functions.Step, error) {
	type row struct {
		State   string
		Missing int64
	}
	w, found, err := store.One[row](ctx, tx, sql.CountWindow, d.Job, id.agent, id.number, c.passed, c.ended, c.failed)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, fmt.Errorf("job %s has audits of window %d of agent %s, and no such window", d.Job, id.number, id.agent)
	}
	if w.State == windowClosing && w.Missing > 0 {
		return []functions.Step{stepargs.CloseWindowArgs{Project: d.Project, Job: d.Job, Agent: id.agent, Window: id.number}}, nil
	}
	return nil, nil
}

// passWindows has windows of agents and of their owners' other agents pass whose audits have all passed, where no other audit of the owner's
// results is under way: one that was drawn before may prove what the window's own have not met. Those that are closed together pass when all
// of them do. The job's audits are locked.
func (d Settlement) passWindows(ctx context.Context, tx *store.Tx, agents []uuid.UUID) ([]functions.Step, error) {
	type row struct {
		AgentID uuid.UUID
		Number  int64
	}
	rows, err := store.Many[row](ctx, tx, sql.PassWindows, d.Job, agents)
	if err != nil {
		return nil, err
	}
	together, err := store.Many[row](ctx, tx, sql.PassTogether, d.Job)
	rows = append(rows, together...)
	steps := make([]functions.Step, len(rows))
	for i, r := range rows {
		steps[i] = stepargs.FinaliseArgs{Project: d.Project, Job: d.Job, Agent: r.AgentID, Window: r.Number}
	}
	return steps, err
}

type windowRow struct {
	State  string
	Audits int64
	Passed int64
	Drawn  int64
}

// CloseWindow draws audits of a window, once nothing can get into it any more.
func (s *Service) CloseWindow(ctx context.Context, args stepargs.CloseWindowArgs) error {
	var w windowRow
	err := s.env.Project(ctx, args.Project, func(tx *store.Tx) (err error) {
		if w, err = lockWindow(ctx, tx, args); err != nil || w.State != windowOpen {
			return err
		}
		w.State = windowClosing
		_, err = store.Exec(ctx, tx, sql.CloseWindow, args.Job, args.Agent, args.Window, w.State, w.Audits, int64(0), 0.0, false)
		return err
	})
	if err == nil && w.State == windowClosing {
		err = s.env.Project(ctx, args.Project, func(tx *store.Tx) error { return s.drawWindow(ctx, tx, args, w) })
	}
	if errors.Is(err, functions.ErrJobEnded) { // meanwhile
		return nil
	}
	if err != nil {
		return fmt.Errorf("closing window %d of agent %s in job %s: %w", args.Window, args.Agent, args.Job, err)
	}
	return nil
}

// errWindowChanged says that audits of a window have ended while others were chosen: they are chosen again.
var errWindowChanged = errors.New("the window has changed meanwhile")

func lockWindow(ctx context.Context, tx *store.Tx, args stepargs.CloseWindowArgs) (windowRow, error) {
	w, found, err := store.One[windowRow](ctx, tx, sql.LockWindow, args.Job, args.Agent, args.Window)
	if err == nil && !found {
		if err = base.NotDeleted(ctx, tx, args.Job); err == nil {
			err = fmt.Errorf("there is no window %d", args.Window)
		}
	}
	return w, err
}

// drawWindow chooses results of a closed window by the project's secret, and has them audited: by the server where it can, else by a
// further agent each. The shards are locked before the window, as everywhere.
func (s *Service) drawWindow(ctx context.Context, tx *store.Tx, args stepargs.CloseWindowArgs, w windowRow) error {
	if state, _, err := store.Value[functions.JobState](ctx, tx, store.GetJobState, args.Job); err != nil || state.Ended() {
		return err // it was cancelled: nothing of it becomes final any more
	}
	policy, found, err := store.Value[verify.Policy](ctx, tx, sql.GetPolicy, args.Job)
	if err != nil || !found {
		return base.OrNotFound(err, "job", args.Job)
	}
	terms, err := s.AuditTerms(ctx, tx, args.Project, args.Job, policy)
	if err != nil {
		return err
	}
	owner, err := ownerWindows(ctx, tx, args)
	if err != nil {
		return err
	}
	pool, err := store.Values[int64](ctx, tx, sql.WindowShards, args.Job, args.Agent, args.Window)
	if err != nil {
		return err
	}
	plan := owner.plan(terms, w, len(pool))
	chosen := verify.Choose(terms.secret, args.Job.String(), args.Agent.String(), args.Window, pool, plan.want)
	slices.Sort(chosen)
	rows, err := store.Many[ShardRow](ctx, tx, store.LockShards, args.Job, chosen)
	if err != nil {
		return err
	}
	if w.Drawn == 0 { // perhaps nothing is left to draw, and windows pass
		if _, _, err := store.Value[bool](ctx, tx, sql.LockAudits, args.Job); err != nil {
			return err
		}
	}
	now, err := lockWindow(ctx, tx, args)
	if err == nil && now != w {
		err = errWindowChanged
	}
	if err != nil {
		return err
	}
	return s.auditWindow(ctx, tx, args, terms, w, rows, plan)
}

// ownerWindows is what the agent's owner has given of the job and what its other windows have spent. Until the transaction ends no other
// window of the owner is closed in the job. It is asked before anything is locked that others wait for.
func ownerWindows(ctx context.Context, tx *store.Tx, args stepargs.CloseWindowArgs) (ownerRow, error) {
	if _, _, err := store.Value[bool](ctx, tx, sql.LockOwnerWindows, args.Job, args.Agent); err != nil {
		return ownerRow{}, err
	}
	owner, _, err := store.One[ownerRow](ctx, tx, sql.OwnerWindows, args.Job, args.Agent, args.Window)
	return owner, err
}

// closingPlan is how a window that is closed goes on.
type closingPlan struct {
	want  int // further audits
	risk  float64
	apart bool // it is closed by itself from now on, since an audit of those failed with which it was closed
}

func (s *Service) auditWindow(ctx context.Context, tx *store.Tx, args stepargs.CloseWindowArgs, terms *AuditTerms, w windowRow, rows []ShardRow, plan closingPlan) error {
	d := Settlement{
		Project: args.Project, Job: args.Job, Reopened: "a further agent audits the result",
		Weighed: Weighed{Counts: map[uuid.UUID]*Count{}, Terms: terms},
	}
	for _, r := range rows {
		if r.Awaits != nil && *r.Awaits == args.Window && r.AgentID != nil && *r.AgentID == args.Agent { // it was not taken back meanwhile
			d.Audit(OpenAudit{Shard: r.Number, AgentID: args.Agent, Number: args.Window}, r)
		}
	}
	drawn := int64(len(d.draws))
	state, audits := windowClosing, w.Passed+w.Drawn+drawn
	if audits == 0 { // there is nothing to audit
		state = windowPassed
		d.next = append(d.next, stepargs.FinaliseArgs(args))
	}
	if _, err := store.Exec(ctx, tx, sql.CloseWindow, args.Job, args.Agent, args.Window, state, audits, drawn, plan.risk, plan.apart); err != nil {
		return err
	}
	if w.Drawn+drawn == 0 {
		steps, err := d.passWindows(ctx, tx, []uuid.UUID{args.Agent})
		if err != nil {
			return err
		}
		d.next = append(d.next, steps...)
	}
	return s.settle(ctx, tx, d)
}

// Audit draws a result that is accepted: the server executes the shard where it can, else further agents do, as many as make an answer
// credible without it, and the shard is open until then.
func (w *Weighed) Audit(a OpenAudit, shard ShardRow) {
	w.draws = append(w.draws, a)
	if w.Terms.Rechecks {
		w.Rechecks = append(w.Rechecks, a.Shard)
		return
	}
	c := shard.Unchanged()
	c.State, c.Agent, c.Awaits, c.Provisional = functions.ShardOpen, nil, nil, false
	c.Support, c.Wanted = w.Terms.Bound.Voices, 1
	w.Changes = append(w.Changes, c)
}

// Tail has the open windows of a job closed. It runs again when shards were reopened and accepted again.
func (s *Service) Tail(ctx context.Context, args stepargs.TailArgs) error {
	err := s.env.Project(ctx, args.Project, func(tx *store.Tx) error {
		type row struct {
			AgentID uuid.UUID
			Number  int64
		}
		if err := s.closeTogether(ctx, tx, args); err != nil {
			return err
		}
		rows, err := store.Many[row](ctx, tx, sql.OpenWindows, args.Job)
		if err != nil {
			return err
		}
		steps := make([]functions.Step, len(rows))
		for i, r := range rows {
			steps[i] = stepargs.CloseWindowArgs{Project: args.Project, Job: args.Job, Agent: r.AgentID, Window: r.Number}
		}
		return s.env.Enqueue(ctx, tx, steps...)
	})
	if err != nil {
		return fmt.Errorf("closing the windows of job %s: %w", args.Job, err)
	}
	return nil
}

// EndAuditsByPerson ends audits of shards that a person has settled: nothing was found out about the agents, and other results of their
// windows are drawn instead. Shards that are leased again keep their audits.
func (d Settlement) EndAuditsByPerson(ctx context.Context, tx *store.Tx, numbers []int64) ([]functions.Step, error) {
	if d.Changes[0].State == functions.ShardOpen {
		return nil, nil
	}
	audits, err := store.Many[OpenAudit](ctx, tx, store.OpenAudits, d.Job, numbers)
	if err != nil {
		return nil, err
	}
	for _, a := range audits {
		d.Verdicts = append(d.Verdicts, AuditVerdict{OpenAudit: a, State: AuditVoid, Reason: "a person has decided about the shard"})
	}
	return d.endAudits(ctx, tx)
}
