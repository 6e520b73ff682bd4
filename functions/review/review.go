package review

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/aggregation"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/review/sql"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/trust"
	"github.com/ostraka/ostraka/functions/verify"
	"github.com/ostraka/ostraka/guardian"
)

// Resolution is a person's decision about a shard in review.
type Resolution struct {
	Decision string // accept, retry or fail
	Digest   string // of the output to accept
	Reason   string // required
}

// The decisions that a person can take about a shard in review.
const (
	ResolveAccept = "accept" // one of the outputs, named by its digest
	ResolveRetry  = "retry"  // lease it again; also an accepted shard, as long as the job has not ended
	ResolveFail   = "fail"

	resolveRecheck = "recheck" // of a flag alone: the shard waits for the server
)

// ResolveShard carries out a person's decision about a shard in review, and about the open flags on it. The reason goes into the
// audit log.
func (s *Service) ResolveShard(ctx context.Context, by functions.Principal, project, job uuid.UUID, number int64, r Resolution) (d functions.ShardDetail, err error) {
	if err := functions.CheckResolutionReason(r.Reason); err != nil {
		return d, err
	}
	if r.Decision == resolveRecheck {
		return d, functions.Invalid("bad_decision", "rechecks are asked for through the flag of the shard", "ostraka flag list, then ostraka flag resolve FLAG --recheck")
	}
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		if d, err = jobs.GetShard(ctx, tx, job, number); err != nil { // there is such a shard
			return err
		}
		about, err := jobs.Facts(ctx, tx, job)
		if err != nil {
			return err
		}
		subject := fmt.Sprintf("%s/%d", job, number)
		facts := guardian.DecisionFacts{Decision: guardian.Decided{About: "shard", Verdict: r.Decision, Reason: r.Reason, Function: about.Function.Name, Job: job.String()}}
		intent := base.Intent{By: by, Project: project, Kind: guardian.ShardResolve, Subject: subject, Facts: facts, Asked: shardAsked{Digest: r.Digest}}
		if err := s.env.Ask(ctx, tx, intent); err != nil {
			return err
		}
		if err := base.Audit(ctx, tx, by.Actor(), "shard.resolve", subject, map[string]any{"decision": r.Decision, "digest": r.Digest, "reason": r.Reason}); err != nil {
			return err
		}
		steps, err := resolveShards(ctx, tx, project, by, job, []int64{number}, uuid.Nil, r)
		if err != nil {
			return err
		}
		return s.env.Enqueue(ctx, tx, steps...)
	})
	if err != nil {
		return functions.ShardDetail{}, err
	}
	return s.jobs.GetShard(ctx, project, job, number)
}

// shardAsked is what is decided about a shard beyond the verdict.
type shardAsked struct {
	Digest string `json:"digest,omitempty"` // of the output to accept
}

// resolveShards decides about shards alike. Their open flags are decided with them, but for the one that the decision was taken about.
// It returns the steps that follow: enqueueing them leaves the project's role, which is the last thing that a transaction does.
func resolveShards(ctx context.Context, tx *store.Tx, project uuid.UUID, by functions.Principal, job uuid.UUID, numbers []int64, flag uuid.UUID, r Resolution) ([]functions.Step, error) {
	rows, err := store.Many[trust.ShardRow](ctx, tx, store.LockShards, job, numbers)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	var changes []jobs.ShardChange
	var decided []int64
	for _, row := range rows {
		d := functions.ShardDetail{Shard: functions.Shard{Number: row.Number, State: row.State}}
		if len(rows) == 1 {
			if d, err = jobs.GetShard(ctx, tx, job, row.Number); err != nil {
				return nil, err
			}
		} else if row.State != functions.ShardReview {
			continue // it was decided meanwhile
		}
		change, err := changeFor(d, r)
		if err != nil {
			return nil, err
		}
		change.AgentWas, change.Unfinal = row.AgentID, row.Awaits != nil
		if err := mayReopen(change); err != nil {
			return nil, err
		}
		changes, decided = append(changes, change), append(decided, row.Number)
	}
	return writeResolution(ctx, tx, project, job, changes, decided, by, flag, r)
}

func writeResolution(ctx context.Context, tx *store.Tx, project, job uuid.UUID, changes []jobs.ShardChange, numbers []int64, by functions.Principal, flag uuid.UUID, r Resolution) ([]functions.Step, error) {
	if len(changes) == 0 {
		return nil, nil
	}
	c := changes[0] // they are alike
	d := trust.Settlement{Project: project, Job: job, Weighed: trust.Weighed{Changes: changes}, Reopened: r.Decision + ": " + r.Reason}
	redraw, err := d.EndAuditsByPerson(ctx, tx, numbers)
	if err != nil {
		return nil, err
	}
	if _, err := store.Exec(ctx, tx, sql.ResolveShards, job, numbers, c.State, c.Wanted, c.Agent, c.Reasons); err != nil {
		return nil, err
	}
	counted, err := jobs.CountPages(ctx, tx, project, job, jobs.PageDeltas(changes, false))
	if err != nil {
		return nil, err
	}
	steps, err := aggregation.TakeBack(ctx, tx, d.TakenBack(), counted)
	if err != nil {
		return nil, err
	}
	if steps, err = jobs.ScoreFirst(ctx, tx, job, append(counted.Settled, steps...)); err != nil {
		return nil, err
	}
	if err := jobs.Place(ctx, tx, job); err != nil {
		return nil, err
	}
	more, err := jobs.Drain(ctx, tx, project, job)
	if err != nil {
		return nil, err
	}
	if _, err := store.Exec(ctx, tx, sql.ResolveFlags, job, numbers, by.Actor(), r.Decision, r.Digest, r.Reason, flag); err != nil {
		return nil, err
	}
	if err := base.Notify(ctx, tx, base.ChannelWork, project); err != nil {
		return nil, err
	}
	return slices.Concat(redraw, steps, more), nil
}

// changeFor is the change of one shard that a decision makes.
func changeFor(d functions.ShardDetail, r Resolution) (jobs.ShardChange, error) {
	change := jobs.ShardChange{Number: d.Number, Was: d.State, Reasons: []verify.Reason{{Code: "resolved", Text: r.Decision + ": " + r.Reason}}}
	switch r.Decision {
	case ResolveAccept:
		i := slices.IndexFunc(d.Attempts, func(a functions.Attempt) bool { return a.OutputDigest != "" && a.OutputDigest == r.Digest })
		if i < 0 {
			return change, functions.Invalid("no_such_output", "no attempt of the shard has an output with this digest", "choose the output_digest of one of its attempts")
		}
		change.State, change.Agent = functions.ShardAccepted, &d.Attempts[i].Agent
	case ResolveRetry:
		change.State, change.Wanted = functions.ShardOpen, 1
	case resolveRecheck:
		change.State = functions.ShardOpen
	case ResolveFail:
		change.State = functions.ShardFailed
	default:
		return change, functions.Invalid("bad_decision", fmt.Sprintf("there is no decision %q", r.Decision), "decide accept, retry or fail")
	}
	return change, nil
}

// mayReopen refuses to decide about a shard that needs no decision. An accepted one may be lent again while the job has not ended, to
// which takeBackFolds holds it when it has the job's lock: what is built on the shard is taken back then.
func mayReopen(c jobs.ShardChange) error {
	if c.Was == functions.ShardReview || c.Was == functions.ShardAccepted && c.State == functions.ShardOpen {
		return nil
	}
	return &functions.Error{Kind: functions.KindConflict, Code: "not_in_review", Message: fmt.Sprintf("shard %d is %s", c.Number, c.Was), Hint: "only shards in review can be resolved; one that was accepted can be lent once more"}
}
