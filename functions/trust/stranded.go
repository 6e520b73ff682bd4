package trust

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/owner"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/trust/sql"
	"github.com/ostraka/ostraka/functions/verify"
	"github.com/ostraka/ostraka/guardian"
	"github.com/ostraka/ostraka/wasm"
)

const (
	// AgentGone is how long ago an agent was heard of at most for a shard to wait for it. It is longer than a machine needs to restart.
	AgentGone = 10 * time.Minute
	// strandedJobs is how many jobs are listed at a time.
	strandedJobs = 500
	// reasonStranded stands beside the reasons of package verify: it does not come from results.
	reasonStranded verify.ReasonCode = "stranded"
)

// Stranded decides again about shards that wait for a further agent though nobody is left who may take them: all agents have tried them, or
// others of their owners have. Where a server can execute shards it does so, and its answer decides, under a quorum too. Without one,
// answers that still differ under a bound go to a person; those that agree, and all under a quorum, wait for agents of other owners.
func (s *Service) Stranded(ctx context.Context, _ stepargs.StrandedArgs) error {
	var last uuid.UUID
	var failed []error // one job that cannot be looked after must not keep the others
	mended := map[uuid.UUID]bool{}
	for {
		type openJobRow struct {
			ProjectID uuid.UUID
			JobID     uuid.UUID
		}
		var rows []openJobRow
		err := s.env.Control(ctx, func(tx pgx.Tx) (err error) {
			rows, err = store.Many[openJobRow](ctx, tx, sql.AllOpenJobs, last, strandedJobs)
			return err
		})
		if err != nil {
			return fmt.Errorf("listing open jobs: %w", err)
		}
		for _, r := range rows {
			last = r.JobID
			err := errors.Join(s.freeStranded(ctx, r.ProjectID, r.JobID), s.askAgentsInstead(ctx, r.ProjectID, r.JobID))
			if !mended[r.ProjectID] { // once, however many jobs it has
				mended[r.ProjectID] = true
				err = errors.Join(err, s.jobs.MendSplit(ctx, r.ProjectID), s.mendRechecks(ctx, r.ProjectID))
			}
			if err != nil {
				failed = append(failed, fmt.Errorf("looking after stranded shards of job %s: %w", r.JobID, err))
			}
		}
		if len(rows) < strandedJobs {
			return errors.Join(failed...)
		}
	}
}

func (s *Service) freeStranded(ctx context.Context, project, job uuid.UUID) error {
	type waitingJob struct {
		Policy     verify.Policy
		Validator  *functions.ValidatorRef
		Conditions *guardian.Conditions
	}
	return s.env.Project(ctx, project, func(tx *store.Tx) error {
		j, found, err := store.One[waitingJob](ctx, tx, sql.WaitingJob, job)
		if err != nil || !found {
			return err
		}
		numbers, err := strandedShards(ctx, tx, project, job, j.Policy, j.Conditions)
		if err != nil || len(numbers) == 0 {
			return err
		}
		terms, err := s.AuditTerms(ctx, tx, project, job, j.Policy)
		if err != nil {
			return err
		}
		b, err := readBench(ctx, tx, SubmissionRow{JobID: job, Shards: numbers, Policy: j.Policy, Validator: j.Validator}, uuid.Nil, terms)
		if err != nil || b.uncompared { // the step that compares decides about them
			return err
		}
		server, err := s.AuditTerms(ctx, tx, project, job, verify.Policy{Recheck: verify.RecheckAll})
		if err != nil {
			return err
		}
		w := Weighed{Counts: map[uuid.UUID]*Count{}, Terms: terms}
		for _, shard := range b.shards {
			if shard.State == functions.ShardOpen && shard.Wanted > 0 && shard.Lent == 0 { // nobody has taken it meanwhile
				w.freeStranded(b, shard, server.Rechecks)
			}
		}
		if len(w.Changes)+len(w.Rechecks) == 0 {
			return nil
		}
		b.classes.review(w.Changes)
		return s.settle(ctx, tx, Settlement{Project: project, Job: job, Weighed: w})
	})
}

// UsableAgents are the agents that may yet take shards of a job, each with who is behind it where that counts.
type UsableAgents struct {
	IDs   []uuid.UUID
	Hands []string
}

// Owners is how many of them are independent.
func (u UsableAgents) Owners() int64 {
	hands := slices.Clone(u.Hands)
	slices.Sort(hands)
	return int64(len(slices.Compact(hands)))
}

// UselessAgents take no shards of a job.
type UselessAgents struct {
	IDs   []uuid.UUID // caught, or refusing its function
	Hands []string    // of owners that are caught, or excluded, since the job runs another one again
	// Conditions are those of the job, if it has any: agents of owners that they do not name take none either.
	Conditions *guardian.Conditions
}

// leftOut says whether conditions keep an owner's agents from the job.
func (u UselessAgents) leftOut(owner string) bool {
	return u.Conditions != nil && u.Conditions.Owners != nil && !slices.Contains(u.Conditions.Owners, owner)
}

// Usable are the agents that may still take shards of a job, without those not seen for silent.
func Usable(ctx context.Context, server store.DB, project, job uuid.UUID, p verify.Policy, useless UselessAgents, silent time.Duration) (u UsableAgents, err error) {
	type row struct {
		ID    uuid.UUID
		Owner string
	}
	rows, err := store.Many[row](ctx, server, sql.UsableAgents, project, job, useless.IDs, silent, wasm.Meter)
	for _, r := range rows {
		if jobs.Excludes(useless.Hands, r.Owner, r.ID) || useless.leftOut(r.Owner) {
			continue
		}
		if !p.Independent() {
			r.Owner = ""
		}
		u.IDs, u.Hands = append(u.IDs, r.ID), append(u.Hands, owner.Hand(r.Owner, r.ID))
	}
	return u, err
}

// strandedShards are those that nobody is left for. A job without agents waits for some.
func strandedShards(ctx context.Context, tx *store.Tx, project, job uuid.UUID, p verify.Policy, c *guardian.Conditions) ([]int64, error) {
	useless := UselessAgents{Conditions: c}
	var err error
	if useless.IDs, err = store.Values[uuid.UUID](ctx, tx, store.CaughtAgents); err != nil {
		return nil, err
	}
	if useless.Hands, err = jobs.ExcludedHands(ctx, tx, job); err != nil {
		return nil, err
	}
	owners, err := owner.ListCaught(ctx, tx)
	if err != nil {
		return nil, err
	}
	useless.Hands = append(useless.Hands, owner.Hands(owners)...)
	refusals, err := store.Many[fleet.AgentRefusal](ctx, tx, store.RefusalsForJob, job)
	if err != nil {
		return nil, err
	}
	for _, r := range refusals {
		useless.IDs = append(useless.IDs, r.AgentID)
	}
	server, err := tx.AsServer(ctx)
	if err != nil {
		return nil, err
	}
	left, err := Usable(ctx, server, project, job, p, useless, AgentGone)
	if err != nil || len(left.IDs) == 0 {
		return nil, err
	}
	if err := tx.AsProject(ctx); err != nil {
		return nil, err
	}
	return store.Values[int64](ctx, tx, store.StrandedShards, job, left.IDs, left.Hands)
}

// freeStranded decides about a shard that nobody is left for.
func (w *Weighed) freeStranded(b bench, shard ShardRow, server bool) {
	verdict := b.ask(shard)
	switch {
	case verdict.Decision == verify.Replicate && server && !b.executed(shard):
		w.Rechecks = append(w.Rechecks, shard.Number)
		return
	case w.Terms == nil, verdict.Decision == verify.Replicate && b.agrees(shard, verdict):
		return
	}
	w.decide(b, shard)
	c := &w.Changes[len(w.Changes)-1]
	if c.Verdict != verify.Replicate {
		return
	}
	c.State, c.Wanted, c.Verdict = functions.ShardReview, 0, verify.Review
	c.Reasons = append(c.Reasons, verify.Reason{Code: reasonStranded, Text: "every agent that may execute it has tried, and none of the answers is credible"})
	w.endVoid(b, shard, "a person decides about the shard")
}

// executed says whether the server has executed the shard, whatever came of it.
func (b bench) executed(shard ShardRow) bool {
	return slices.ContainsFunc(b.attempts[shard.Number], func(a attemptRow) bool { return a.AgentID == functions.ServerAgent })
}

// agrees says whether all that is missing are further voices for the only answer.
func (b bench) agrees(shard ShardRow, v verify.Verdict) bool {
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
