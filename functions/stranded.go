package functions

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/verify"
)

// StrandedArgs is the periodic step that looks after shards of jobs with a bound which no agent is left for.
type StrandedArgs struct{}

// Kind names the step.
func (StrandedArgs) Kind() string { return "stranded_shards" }

const (
	// AgentGone is how long ago an agent was heard of at most for a shard to wait for it. It is longer than a machine needs to restart.
	AgentGone = 10 * time.Minute
	// strandedJobs is how many jobs are listed at a time.
	strandedJobs = 500
	// reasonStranded stands beside the reasons of package verify: it does not come from results.
	reasonStranded verify.ReasonCode = "stranded"
)

// Stranded decides anew about shards that wait for a further agent though all have tried them: evidence may have changed since, or a
// server may execute shards by now. Where answers still differ nobody is left to ask but a person. Those whose answers agree wait for
// further agents, as a quorum does.
func (s *Service) Stranded(ctx context.Context, _ StrandedArgs) error {
	var last uuid.UUID
	var failed []error // one job that cannot be looked after must not keep the others
	for {
		type openJobRow struct {
			ProjectID uuid.UUID
			JobID     uuid.UUID
		}
		var rows []openJobRow
		err := s.control(ctx, func(tx pgx.Tx) (err error) {
			rows, err = store.Many[openJobRow](ctx, tx, store.AllOpenJobs, last, strandedJobs)
			return err
		})
		if err != nil {
			return fmt.Errorf("listing open jobs: %w", err)
		}
		for _, r := range rows {
			last = r.JobID
			if err := s.freeStranded(ctx, r.ProjectID, r.JobID); err != nil {
				failed = append(failed, fmt.Errorf("looking after stranded shards of job %s: %w", r.JobID, err))
			}
		}
		if len(rows) < strandedJobs {
			return errors.Join(failed...)
		}
	}
}

func (s *Service) freeStranded(ctx context.Context, project, job uuid.UUID) error {
	type boundJob struct {
		Policy    verify.Policy
		Validator *ValidatorRef
	}
	return s.project(ctx, project, func(tx *store.Tx) error {
		j, found, err := store.One[boundJob](ctx, tx, store.BoundJob, job)
		if err != nil || !found {
			return err
		}
		numbers, err := strandedShards(ctx, tx, project, job)
		if err != nil || len(numbers) == 0 {
			return err
		}
		terms, err := s.auditTerms(ctx, tx, project, j.Policy)
		if err != nil {
			return err
		}
		b, err := readBench(ctx, tx, submissionRow{JobID: job, Shards: numbers, Policy: j.Policy, Validator: j.Validator}, uuid.Nil, terms)
		if err != nil || b.uncompared { // the step that compares decides about them
			return err
		}
		w := weighed{counts: map[uuid.UUID]*count{}, terms: terms}
		for _, shard := range b.shards {
			if shard.State == ShardOpen && shard.Wanted > 0 && shard.Lent == 0 { // nobody has taken it meanwhile
				w.freeStranded(b, shard)
			}
		}
		if len(w.changes) == 0 {
			return nil
		}
		b.classes.review(w.changes)
		return s.settle(ctx, tx, settlement{project: project, job: job, weighed: w})
	})
}

// strandedShards are those that every agent has tried which may take them. A job without such agents waits for some.
func strandedShards(ctx context.Context, tx *store.Tx, project, job uuid.UUID) ([]int64, error) {
	useless, err := store.Values[uuid.UUID](ctx, tx, store.CaughtAgents)
	if err != nil {
		return nil, err
	}
	refusals, err := store.Many[agentRefusal](ctx, tx, store.RefusalsForJob, job)
	if err != nil {
		return nil, err
	}
	for _, r := range refusals {
		useless = append(useless, r.AgentID)
	}
	server, err := tx.AsServer(ctx)
	if err != nil {
		return nil, err
	}
	usable, err := store.Values[uuid.UUID](ctx, server, store.UsableAgents, project, job, useless, AgentGone)
	if err != nil || len(usable) == 0 {
		return nil, err
	}
	if err := tx.AsProject(ctx); err != nil {
		return nil, err
	}
	return store.Values[int64](ctx, tx, store.StrandedShards, job, usable)
}

// freeStranded decides about a shard that every agent has tried.
func (w *weighed) freeStranded(b bench, shard shardRow) {
	verdict := b.ask(shard)
	if verdict.Decision == verify.Replicate && b.agrees(shard, verdict) {
		return
	}
	w.decide(b, shard)
	c := &w.changes[len(w.changes)-1]
	if c.verdict != verify.Replicate {
		return
	}
	c.state, c.wanted, c.verdict = ShardReview, 0, verify.Review
	c.reasons = append(c.reasons, verify.Reason{Code: reasonStranded, Text: "every agent that may execute it has tried, and none of the answers is credible"})
	w.endVoid(b, shard, "a person decides about the shard")
}

// agrees says whether all that is missing are further voices for the only answer.
func (b bench) agrees(shard shardRow, v verify.Verdict) bool {
	if len(v.Agree) == 0 || len(v.Disagree) > 0 {
		return false
	}
	for _, a := range b.attempts[shard.Number] {
		if a.Status == verify.Error && !a.Void {
			return false
		}
	}
	return true
}
