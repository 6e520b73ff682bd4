package heuristics

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/flag"
	"github.com/ostraka/ostraka/functions/heuristics/sql"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/trust"
	"github.com/ostraka/ostraka/functions/verify"
)

// MaxJobFindings is how many findings of one heuristic are kept in one job, each with what follows from it; pages that are scored at the
// same time may pass it by one page each. A flag counts the rest: people do not read more, and a heuristic that finds something in
// every result of a million must not fill the database.
const MaxJobFindings = 10_000

// reasonFinding stands beside the reasons of package verify: it does not come from the shard's own results.
const reasonFinding verify.ReasonCode = "finding"

// consequences are what follows from what was found in a page.
type consequences struct {
	trust.Settlement
	page     *pageToScore
	findings []finding
	raised   map[uuid.UUID]bool
	events   []map[string]any
}

// judgedShard is a shard of the page with what was found in it.
type judgedShard struct {
	number    int64
	agent     uuid.UUID
	actions   map[functions.HeuristicAction]bool
	why       []string
	decisions []string
}

// consequencesOf decides what follows from findings. One that is known already has had its consequences: a person who has accepted a
// result is not asked again. The shards that are to change are locked.
func (s *Service) consequencesOf(ctx context.Context, tx *store.Tx, project uuid.UUID, page *pageToScore, scores []pageScores) (*consequences, error) {
	c := &consequences{
		Settlement: trust.Settlement{Project: project, Job: page.job, Reopened: "a heuristic found something in it", Why: "finding", Weighed: trust.Weighed{Counts: map[uuid.UUID]*trust.Count{}}},
		page:       page, raised: map[uuid.UUID]bool{},
	}
	shards := map[int64]*judgedShard{}
	fresh := make([][]resultFinding, len(scores))
	for i, p := range scores {
		list, left, err := freshFindings(ctx, tx, page, p)
		if err != nil {
			return nil, err
		}
		fresh[i] = list
		if left > 0 {
			c.Marks = append(c.Marks, flag.Mark{
				Kind: flag.FlagFinding, Rule: p.Module, Job: page.job, Decision: "not kept, and nothing follows", Times: int64(left),
				Detail: map[string]any{"page": page.number, "findings": left, "reason": fmt.Sprintf("the job has %d findings of %s already", MaxJobFindings, p.Module)},
			})
		}
		for _, f := range list {
			if shards[f.shard] == nil {
				shards[f.shard] = &judgedShard{number: f.shard, agent: f.agent, actions: map[functions.HeuristicAction]bool{}}
			}
			shards[f.shard].add(p, f)
		}
	}
	if err := s.carryOutFindings(ctx, tx, c, shards); err != nil {
		return nil, err
	}
	for i, p := range scores {
		c.tell(p, fresh[i], shards)
	}
	return c, nil
}

// freshFindings are those that were not acted on yet, as many as are kept.
func freshFindings(ctx context.Context, tx *store.Tx, page *pageToScore, p pageScores) (list []resultFinding, left int, err error) {
	if len(p.found) == 0 {
		return nil, 0, nil
	}
	type known struct {
		Shard   int64
		AgentID uuid.UUID
	}
	numbers := make([]int64, len(p.found))
	for i, f := range p.found {
		numbers[i] = f.shard
	}
	old, err := store.Many[known](ctx, tx, sql.KnownFindings, page.job, p.Key, numbers)
	if err != nil {
		return nil, 0, err
	}
	for _, f := range p.found {
		if !slices.Contains(old, known{f.shard, f.agent}) {
			list = append(list, f)
		}
	}
	kept, _, err := store.Value[int](ctx, tx, sql.CountFindings, page.job, p.Key)
	room := max(0, min(MaxJobFindings-kept, len(list)))
	return list[:room], len(list) - room, err
}

func (j *judgedShard) add(p pageScores, f resultFinding) {
	for _, a := range p.Actions(*f.Score.Score) {
		j.actions[a] = true
	}
	why := fmt.Sprintf("%s gives it a score of %.2f", p.Module, *f.Score.Score)
	if f.Explain != "" {
		why += ": " + f.Explain
	}
	j.why = append(j.why, why)
}

// carryOutFindings decides about the shards in the order of their numbers.
func (s *Service) carryOutFindings(ctx context.Context, tx *store.Tx, c *consequences, shards map[int64]*judgedShard) error {
	var numbers []int64
	for n, j := range shards {
		if j.actions[functions.DoRecheck] || j.actions[functions.DoReview] {
			numbers = append(numbers, n)
		}
		c.raise(j)
	}
	if len(numbers) == 0 {
		return nil
	}
	slices.Sort(numbers)
	rows, err := store.Many[trust.ShardRow](ctx, tx, store.LockShards, c.Job, numbers)
	if err != nil {
		return err
	}
	audits, err := store.Many[trust.OpenAudit](ctx, tx, store.OpenAudits, c.Job, numbers)
	if err != nil {
		return err
	}
	if c.Terms, err = s.trust.AuditTerms(ctx, tx, c.Project, c.Job, c.page.policy); err != nil {
		return err
	}
	able, err := s.trust.AuditTerms(ctx, tx, c.Project, c.Job, verify.Policy{Recheck: verify.RecheckAll})
	if err != nil {
		return err
	}
	for _, row := range rows {
		j := shards[row.Number]
		open := slices.DeleteFunc(slices.Clone(audits), func(a trust.OpenAudit) bool { return a.Shard != row.Number })
		switch {
		case row.State != functions.ShardAccepted || row.AgentID == nil || *row.AgentID != j.agent:
			j.decided("the result does not stand any more")
		case j.actions[functions.DoReview]:
			c.review(row, j, open)
		default:
			c.recheck(row, j, open, able.Rechecks)
		}
	}
	return nil
}

func (j *judgedShard) decided(text string) { j.decisions = append(j.decisions, text) }

// raise has more of the agent's results audited. The server's own need no audits.
func (c *consequences) raise(j *judgedShard) {
	switch {
	case !j.actions[functions.DoRaise]:
	case j.agent == functions.ServerAgent:
		j.decided("it is the server's own")
	case c.page.policy.TargetError == 0:
		j.decided("the job's policy draws no audits that could be raised")
	default:
		c.raised[j.agent] = true
		j.decided("more of the agent's results are audited")
	}
}

// review takes a result back until a person has decided about it.
func (c *consequences) review(row trust.ShardRow, j *judgedShard, audits []trust.OpenAudit) {
	change := row.Unchanged()
	change.State, change.Agent, change.Awaits, change.Provisional, change.Wanted, change.Support = functions.ShardReview, nil, nil, false, 0, 0
	change.Verdict = verify.Review
	change.Reasons = []verify.Reason{{Code: reasonFinding, Text: strings.Join(j.why, "; ")}}
	c.Changes = append(c.Changes, change)
	for _, a := range audits {
		c.Verdicts = append(c.Verdicts, trust.AuditVerdict{OpenAudit: a, State: trust.AuditVoid, Reason: "a person decides about the shard"})
	}
	j.decided("held until a person decides")
}

// recheck has the server execute the shard, and the job waits for that. Where no server does, a job with a bound asks further agents; any
// other policy has no agents to ask.
func (c *consequences) recheck(row trust.ShardRow, j *judgedShard, audits []trust.OpenAudit, able bool) {
	switch {
	case j.agent == functions.ServerAgent:
		j.decided("it is the server's own")
		return
	case len(audits) > 0:
		j.decided("it is being audited already")
		return
	case c.Terms != nil && c.Terms.Bound.Audits > 0:
		c.Audit(trust.OpenAudit{Shard: row.Number, AgentID: j.agent}, row)
		if !able {
			j.decided("further agents are asked: no server executes shards")
			return
		}
	case !able:
		j.decided("no server executes shards: nothing follows")
		return
	default:
		c.Rechecks = append(c.Rechecks, row.Number)
	}
	j.decided("the server executes the shard")
	if row.Awaits != nil {
		return
	}
	change := row.Unchanged()
	change.Awaits, change.Provisional = new(int64), true
	c.Changes = append(c.Changes, change)
}

// tell makes findings, flags and an event of what one heuristic has found.
func (c *consequences) tell(p pageScores, fresh []resultFinding, shards map[int64]*judgedShard) {
	for _, f := range fresh {
		j := shards[f.shard]
		decision := "flagged"
		if len(j.decisions) > 0 {
			decision = strings.Join(j.decisions, "; ")
		}
		c.findings = append(c.findings, finding{
			heuristic: p.Module, key: p.Key, function: c.page.function, version: c.page.version, job: &c.Job, shard: &f.shard, agent: &f.agent,
			score: f.Score, actions: p.Actions(*f.Score.Score),
		})
		c.Marks = append(c.Marks, flag.Mark{
			Kind: flag.FlagFinding, Rule: p.Module, Job: c.Job, Shard: &f.shard, Agent: &f.agent, Decision: decision,
			Detail: map[string]any{"shard": f.shard, "agent": f.agent, "score": *f.Score.Score, "labels": f.Labels, "explanation": f.Explain},
		})
	}
	if len(fresh) > 0 {
		c.events = append(c.events, map[string]any{
			"heuristic": p.Module, "page": c.page.number, "findings": len(fresh), "shard": fresh[0].shard, "score": *fresh[0].Score.Score, "explanation": fresh[0].Explain,
		})
	}
}

// keep writes what needs no lock of a shard. The job is locked: there was a flag for every finding.
func (c *consequences) keep(ctx context.Context, tx *store.Tx) error {
	for _, e := range c.events {
		if err := base.AddEvent(ctx, tx, c.Job, base.EventFinding, e); err != nil {
			return err
		}
	}
	for _, f := range c.findings {
		if err := addFinding(ctx, tx, f); err != nil {
			return err
		}
	}
	for _, agent := range trust.InOrder(c.raised) {
		if _, err := store.Exec(ctx, tx, store.RaiseAudits, c.Job, agent, float64(trust.RaiseFactor)); err != nil {
			return err
		}
	}
	return nil
}
