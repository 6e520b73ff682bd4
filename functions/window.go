package functions

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions/store"
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

func (c *windowCount) write(ctx context.Context, tx *store.Tx, d settlement, id windowID) ([]Step, error) {
	type row struct {
		State   string
		Missing int64
	}
	w, found, err := store.One[row](ctx, tx, store.CountWindow, d.job, id.agent, id.number, c.passed, c.ended, c.failed)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, fmt.Errorf("job %s has audits of window %d of agent %s, and no such window", d.job, id.number, id.agent)
	}
	if w.State == windowClosing && w.Missing > 0 {
		return []Step{CloseWindowArgs{Project: d.project, Job: d.job, Agent: id.agent, Window: id.number}}, nil
	}
	return nil, nil
}

// passWindows has windows of agents and of their owners' other agents pass whose audits have all passed, where no other audit of the owner's
// results is under way: one that was drawn before may prove what the window's own have not met. The owners' audits are locked.
func (d settlement) passWindows(ctx context.Context, tx *store.Tx, agents []uuid.UUID) ([]Step, error) {
	type row struct {
		AgentID uuid.UUID
		Number  int64
	}
	rows, err := store.Many[row](ctx, tx, store.PassWindows, d.job, agents)
	steps := make([]Step, len(rows))
	for i, r := range rows {
		steps[i] = FinaliseArgs{Project: d.project, Job: d.job, Agent: r.AgentID, Window: r.Number}
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
func (s *Service) CloseWindow(ctx context.Context, args CloseWindowArgs) error {
	var w windowRow
	err := s.project(ctx, args.Project, func(tx *store.Tx) (err error) {
		if w, err = lockWindow(ctx, tx, args); err != nil || w.State != windowOpen {
			return err
		}
		w.State = windowClosing
		_, err = store.Exec(ctx, tx, store.CloseWindow, args.Job, args.Agent, args.Window, w.State, w.Audits, int64(0), 0.0)
		return err
	})
	if err == nil && w.State == windowClosing {
		err = s.project(ctx, args.Project, func(tx *store.Tx) error { return s.drawWindow(ctx, tx, args, w) })
	}
	if errors.Is(err, ErrJobEnded) { // meanwhile
		return nil
	}
	if err != nil {
		return fmt.Errorf("closing window %d of agent %s in job %s: %w", args.Window, args.Agent, args.Job, err)
	}
	return nil
}

// errWindowChanged says that audits of a window have ended while others were chosen: they are chosen again.
var errWindowChanged = errors.New("the window has changed meanwhile")

func lockWindow(ctx context.Context, tx *store.Tx, args CloseWindowArgs) (windowRow, error) {
	w, found, err := store.One[windowRow](ctx, tx, store.LockWindow, args.Job, args.Agent, args.Window)
	if err == nil && !found {
		if err = notDeleted(ctx, tx, args.Job); err == nil {
			err = fmt.Errorf("there is no window %d", args.Window)
		}
	}
	return w, err
}

// drawWindow chooses results of a closed window by the project's secret, and has them audited: by the server where it can, else by a
// further agent each. The shards are locked before the window, as everywhere.
func (s *Service) drawWindow(ctx context.Context, tx *store.Tx, args CloseWindowArgs, w windowRow) error {
	if state, _, err := store.Value[JobState](ctx, tx, store.GetJobState, args.Job); err != nil || state.Ended() {
		return err // it was cancelled: nothing of it becomes final any more
	}
	policy, found, err := store.Value[verify.Policy](ctx, tx, store.GetPolicy, args.Job)
	if err != nil || !found {
		return orNotFound(err, "job", args.Job)
	}
	terms, err := s.auditTerms(ctx, tx, args.Project, policy)
	if err != nil {
		return err
	}
	owner, err := ownerWindows(ctx, tx, args)
	if err != nil {
		return err
	}
	pool, err := store.Values[int64](ctx, tx, store.WindowShards, args.Job, args.Agent, args.Window)
	if err != nil {
		return err
	}
	closing := terms.bound.Close(verify.Pool{Agent: args.Agent.String(), Results: len(pool), Owner: owner}, terms.means(0))
	want := closing.Audits
	switch {
	case w.Audits > 0: // some were drawn before: others take the places of those that came to nothing
		want = int(w.Audits - w.Passed - w.Drawn)
	case closing.Voices > 0:
		want = len(pool)
	}
	chosen := verify.Choose(terms.secret, args.Job.String(), args.Agent.String(), args.Window, pool, want)
	slices.Sort(chosen)
	rows, err := store.Many[shardRow](ctx, tx, store.LockShards, args.Job, chosen)
	if err != nil {
		return err
	}
	now, err := lockWindow(ctx, tx, args)
	if err == nil && now != w {
		err = errWindowChanged
	}
	if err != nil {
		return err
	}
	return s.auditWindow(ctx, tx, args, terms, w, rows, closing.Risk)
}

// ownerWindows is what the agent's owner has given of the job and what its other windows have spent. Until the transaction ends no other
// window of the owner is closed in the job. It is asked before anything is locked that others wait for.
func ownerWindows(ctx context.Context, tx *store.Tx, args CloseWindowArgs) (verify.Owner, error) {
	if _, _, err := store.Value[bool](ctx, tx, store.LockOwnerWindows, args.Job, args.Agent); err != nil {
		return verify.Owner{}, err
	}
	owner, _, err := store.One[verify.Owner](ctx, tx, store.OwnerWindows, args.Job, args.Agent, args.Window)
	return owner, err
}

func (s *Service) auditWindow(ctx context.Context, tx *store.Tx, args CloseWindowArgs, terms *auditTerms, w windowRow, rows []shardRow, risk float64) error {
	d := settlement{
		project: args.Project, job: args.Job, reopened: "a further agent audits the result",
		weighed: weighed{counts: map[uuid.UUID]*count{}, terms: terms},
	}
	for _, r := range rows {
		if r.Awaits != nil && *r.Awaits == args.Window && r.AgentID != nil && *r.AgentID == args.Agent { // it was not taken back meanwhile
			d.audit(openAudit{Shard: r.Number, AgentID: args.Agent, Number: args.Window}, r)
		}
	}
	drawn := int64(len(d.draws))
	state := windowClosing
	if w.Drawn+drawn == 0 { // nothing is left to audit
		state = windowPassed
		d.next = append(d.next, FinaliseArgs(args))
	}
	if _, err := store.Exec(ctx, tx, store.CloseWindow, args.Job, args.Agent, args.Window, state, w.Passed+w.Drawn+drawn, drawn, risk); err != nil {
		return err
	}
	return s.settle(ctx, tx, d)
}

// audit draws a result that is accepted: the server executes the shard where it can, else further agents do, as many as make an answer
// credible without it, and the shard is open until then.
func (w *weighed) audit(a openAudit, shard shardRow) {
	w.draws = append(w.draws, a)
	if w.terms.rechecks {
		w.rechecks = append(w.rechecks, a.Shard)
		return
	}
	c := shard.unchanged()
	c.state, c.agent, c.awaits, c.provisional = ShardOpen, nil, nil, false
	c.support, c.wanted = w.terms.bound.Voices, 1
	w.changes = append(w.changes, c)
}

// Tail has the open windows of a job closed. It comes again when shards were opened again and accepted anew.
func (s *Service) Tail(ctx context.Context, args TailArgs) error {
	err := s.project(ctx, args.Project, func(tx *store.Tx) error {
		type row struct {
			AgentID uuid.UUID
			Number  int64
		}
		rows, err := store.Many[row](ctx, tx, store.OpenWindows, args.Job)
		if err != nil {
			return err
		}
		steps := make([]Step, len(rows))
		for i, r := range rows {
			steps[i] = CloseWindowArgs{Project: args.Project, Job: args.Job, Agent: r.AgentID, Window: r.Number}
		}
		return s.enqueue(ctx, tx, steps...)
	})
	if err != nil {
		return fmt.Errorf("closing the windows of job %s: %w", args.Job, err)
	}
	return nil
}

// endAuditsByPerson ends audits of shards that a person has settled: nothing was found out about the agents, and other results of their
// windows are drawn instead. Shards that are lent again keep their audits.
func (d settlement) endAuditsByPerson(ctx context.Context, tx *store.Tx, numbers []int64) ([]Step, error) {
	if d.changes[0].state == ShardOpen {
		return nil, nil
	}
	audits, err := store.Many[openAudit](ctx, tx, store.OpenAudits, d.job, numbers)
	if err != nil {
		return nil, err
	}
	for _, a := range audits {
		d.verdicts = append(d.verdicts, auditVerdict{openAudit: a, state: AuditVoid, reason: "a person has decided about the shard"})
	}
	return d.endAudits(ctx, tx)
}
