package trust

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/result"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/trust/sql"
	"github.com/ostraka/ostraka/functions/verify"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/recheck"
)

// Doubts are what a batch of rechecks is judged by before it is weighed: how often a shard is to be executed.
type Doubts struct {
	bench
	known steadiness
}

// Doubts reads them. They may be out of date when the batch is weighed, which decides again.
func (s *Service) Doubts(ctx context.Context, args stepargs.RecheckArgs, work RecheckWork, runs map[int64][]ServerRun) (d Doubts, err error) {
	if err := s.compareRuns(ctx, args, work, runs); err != nil {
		return d, err
	}
	err = s.env.Project(ctx, args.Project, func(tx *store.Tx) error {
		terms, err := s.AuditTerms(ctx, tx, args.Project, work.Job, work.Policy)
		if err != nil {
			return err
		}
		if d.bench, err = readBench(ctx, tx, work.sub(runs), uuid.Nil, terms); err != nil {
			return err
		}
		d.known, err = readSteadiness(ctx, tx, work.Job)
		return err
	})
	return d, err
}

// Contradicted are the shards that the server is to execute again: its answer is not that of an agent, or it has none.
func (d Doubts) Contradicted(runs map[int64][]ServerRun) (again []int64) {
	d.limitRuns(runs, d.known)
	for _, shard := range d.shards {
		of := runs[shard.Number]
		d.hear(shard.Number, of)
		if len(of) == 1 && of[0].usedUp() { // it does not get as much time again
			continue
		}
		if len(of) == 1 && !of[0].answered() && d.ask(shard).Decision != verify.Fail || len(of) < verify.MaxServerRuns && d.ask(shard).Decision == verify.Recheck {
			again = append(again, shard.Number)
		}
	}
	return again
}

func shardsRun(runs map[int64][]ServerRun) []int64 {
	var numbers []int64
	for n := range runs {
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	return numbers
}

// hear replaces the server's earlier attempts by these runs.
func (b bench) hear(shard int64, runs []ServerRun) {
	attempts := slices.DeleteFunc(b.attempts[shard], func(a attemptRow) bool { return a.AgentID == functions.ServerAgent })
	for _, r := range runs {
		row := r.row()
		b.classes.replace(&row)
		attempts = append(attempts, row)
	}
	b.attempts[shard] = attempts
}

// WeighRechecks records the server's attempts and decides about their shards.
func (s *Service) WeighRechecks(ctx context.Context, args stepargs.RecheckArgs, work RecheckWork, runs map[int64][]ServerRun) error {
	w := Weighed{}
	err := s.env.Project(ctx, args.Project, func(tx *store.Tx) error {
		terms, err := s.AuditTerms(ctx, tx, args.Project, work.Job, work.Policy)
		if err != nil {
			return err
		}
		if _, err := store.Exec(ctx, tx, sql.SeeServerClass, work.Job, serverClass(s.MadeIn(work.Function.Manifest))); err != nil {
			return err
		}
		b, err := readBench(ctx, tx, work.sub(runs), uuid.Nil, terms)
		if err != nil {
			return err
		}
		if b.spot, err = s.spotChecks(ctx, tx, args.Project, work.Job, work.Policy); err != nil {
			return err
		}
		taken, err := store.Values[int64](ctx, tx, sql.TakeRechecks, args.Batch, work.Job, shardsRun(runs))
		if err != nil || len(taken) == 0 { // another run of the step was quicker
			return err
		}
		if _, err := store.Exec(ctx, tx, sql.NoteRecheckProgress, args.Batch); err != nil {
			return err
		}
		if err := readOutputs(ctx, tx, b, runs); err != nil {
			return err
		}
		known, err := readSteadiness(ctx, tx, work.Job)
		if err != nil {
			return err
		}
		b.limitRuns(runs, known)
		w = Weighed{Counts: map[uuid.UUID]*Count{}, Terms: terms}
		var kept []ServerRun
		for _, shard := range b.shards {
			if !slices.Contains(taken, shard.Number) {
				continue
			}
			kept = append(kept, runs[shard.Number][0])
			b.hear(shard.Number, runs[shard.Number])
			w.judge(b, shard, runs[shard.Number], s.decidedBy(work))
		}
		if err := insertServerAttempts(ctx, tx, work.Job, kept); err != nil {
			return err
		}
		if err := tellExecuted(ctx, tx, args, work, taken, runs); err != nil {
			return err
		}
		if err := w.tellExceptions(ctx, tx, work.Job); err != nil {
			return err
		}
		return s.settle(ctx, tx, Settlement{Project: args.Project, Job: work.Job, Weighed: w, Reopened: "the server's own answer is another one"})
	})
	if err != nil {
		return err
	}
	s.observe(w)
	return nil
}

// decidedBy says in every verdict of the server what it was made in.
func (s *Service) decidedBy(work RecheckWork) verify.Reason {
	return verify.Reason{Code: verify.ReasonServer, Text: "executed by the server: " + s.MadeIn(work.Function.Manifest).String()}
}

// byRuntime is a rechecker that executes functions of one runtime elsewhere than those of another.
type byRuntime interface {
	DescribeFor(m *bundle.Manifest) recheck.Description
}

// MadeIn says what the server's results of a function are made in.
func (s *Service) MadeIn(m bundle.Manifest) recheck.Description {
	if r, sorts := s.rechecker.(byRuntime); sorts {
		return r.DescribeFor(&m)
	}
	return s.rechecker.Describe()
}

// judge decides about a shard that the server has executed.
func (w *Weighed) judge(b bench, shard ShardRow, runs []ServerRun, by verify.Reason) {
	settled := shard.State != functions.ShardOpen && shard.State != functions.ShardAccepted
	switch {
	case settled:
		w.endVoid(b, shard, "the shard was settled otherwise")
	case !runs[0].answered() && len(runs) > 1 && runs[1].answered():
		w.judge(b, shard, runs[1:], by)
	case !runs[0].answered() && b.ask(shard).Decision != verify.Fail:
		w.unanswered(b, shard, runs[0], by)
	case w.needsFiles(b, shard, runs[0]):
		w.replicate(shard, by, "the server's answer has files, which an agent is to bring")
	default:
		before := len(w.Changes)
		w.decide(b, shard)
		for i := range w.Changes[before:] {
			c := &w.Changes[before+i]
			if c.Reasons != nil || c.Was != c.State {
				c.Reasons = append([]verify.Reason{by}, c.Reasons...)
			}
			if c.Provisional && c.Unfinal && c.Awaits == nil && !c.Gathered {
				c.Provisional = false
			}
		}
	}
}

// unanswered is a shard that the server has no answer for: it ran out of time, say. Agents are asked instead, as many as make
// their answer credible without it. They end its audits too: a lie that they find taints what else its agent gave.
func (w *Weighed) unanswered(b bench, shard ShardRow, run ServerRun, by verify.Reason) {
	if shard.State == functions.ShardAccepted && b.spot.drawn(b.job, shard.Number) {
		w.stands(shard)
		return
	}
	w.replicate(shard, by, "the server has no answer: its attempt ended with "+run.Status)
	if b.terms != nil {
		w.Changes[len(w.Changes)-1].Support = max(shard.Support, b.terms.Bound.Voices)
	}
}

// replicate opens a shard for a further agent.
func (w *Weighed) replicate(shard ShardRow, by verify.Reason, why string) {
	c := shard.Unchanged()
	c.State, c.Agent, c.Awaits, c.Provisional, c.Verdict = functions.ShardOpen, nil, nil, false, verify.Replicate
	c.Wanted = max(shard.Wanted, 1)
	if shard.Lent > 0 {
		c.Wanted = shard.Wanted
	}
	c.Reasons = []verify.Reason{by, {Code: verify.ReasonShort, Text: why}}
	w.Changes = append(w.Changes, c)
}

// needsFiles says whether the server's answer would be accepted, nobody else gave it, and it has artifacts: nobody has kept these.
func (w *Weighed) needsFiles(b bench, shard ShardRow, run ServerRun) bool {
	if len(run.Files) == 0 {
		return false
	}
	v := b.ask(shard)
	return v.Decision == verify.Accept && len(v.Agree) == 0
}

func (w *Weighed) endVoid(b bench, shard ShardRow, why string) {
	for _, a := range b.audits[shard.Number] {
		w.Verdicts = append(w.Verdicts, AuditVerdict{OpenAudit: a, State: AuditVoid, Reason: why})
	}
}

// readOutputs reads the answers of agents where the server's differ: flags show both.
func readOutputs(ctx context.Context, tx *store.Tx, b bench, runs map[int64][]ServerRun) error {
	for number, of := range runs {
		if len(of) < verify.ServerRuns {
			continue
		}
		rows, err := store.Many[jobs.AttemptListRow](ctx, tx, store.ListAttempts, b.job, number)
		if err != nil {
			return err
		}
		for i := range b.attempts[number] {
			for _, r := range rows {
				if a := &b.attempts[number][i]; a.AgentID == r.AgentID {
					a.output = r.Output
				}
			}
		}
	}
	return nil
}

// insertServerAttempts records what the server found out. An earlier attempt of the server at the same shard makes way.
func insertServerAttempts(ctx context.Context, tx *store.Tx, job uuid.UUID, runs []ServerRun) error {
	results := make([]result.Checked, len(runs))
	for i, r := range runs {
		results[i] = r.Checked
	}
	columns := result.Columns(results)
	_, err := store.Exec(ctx, tx, sql.AddServerAttempts, append([]any{job}, columns...)...)
	if err != nil {
		return fmt.Errorf("recording the server's attempts: %w", err)
	}
	return nil
}

// compareRuns has the job's validator compare the server's answers with those of agents which differ from them. What it finds stands.
func (s *Service) compareRuns(ctx context.Context, args stepargs.RecheckArgs, work RecheckWork, runs map[int64][]ServerRun) error {
	if work.Validator == nil {
		return nil
	}
	for _, number := range shardsRun(runs) {
		run := runs[number][len(runs[number])-1]
		if run.Status != string(verify.OK) {
			continue
		}
		var rows []jobs.AttemptListRow
		err := s.env.Project(ctx, args.Project, func(tx *store.Tx) (err error) {
			rows, err = store.Many[jobs.AttemptListRow](ctx, tx, store.ListAttempts, work.Job, number)
			return err
		})
		if err != nil {
			return err
		}
		own := Answer{Agent: functions.ServerAgent, Status: verify.OK, Outcome: run.Outcome, Output: []byte(run.Whole), WallMicros: run.WallMicros}
		for _, r := range rows {
			if err := s.compareRun(ctx, args.Project, work.Job, number, own, r); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Service) compareRun(ctx context.Context, project, job uuid.UUID, number int64, own Answer, r jobs.AttemptListRow) error {
	if r.AgentID == functions.ServerAgent || r.Status != string(verify.OK) {
		return nil
	}
	output := r.Output
	if output == nil {
		var err error
		if output, err = s.env.Blobs.Get(ctx, project, r.OutputDigest, r.OutputBytes); err != nil {
			return fmt.Errorf("reading an output of shard %d: %w", number, err)
		}
	}
	_, err := s.equivalent(ctx, project, job, number, own, Answer{
		Agent: r.AgentID, Status: verify.OK, Outcome: r.Outcome, Output: output, WallMicros: r.WallMicros,
	})
	return err
}
