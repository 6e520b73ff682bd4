package functions

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/verify"
)

// The decisions that a person can take about a shard in review.
const (
	ResolveAccept = "accept" // one of the outputs, named by its digest
	ResolveRetry  = "retry"  // lend it once more; also an accepted shard, as long as the job has not ended
	ResolveFail   = "fail"

	resolveRecheck = "recheck" // of a flag alone: the shard waits for the server
)

// ResolveShard carries out a person's decision about a shard in review, and about the open flags on it. The reason goes into the
// audit log.
func (s *Service) ResolveShard(ctx context.Context, by Principal, project, job uuid.UUID, number int64, r Resolution) (d ShardDetail, err error) {
	if err := checkResolutionReason(r.Reason); err != nil {
		return d, err
	}
	if r.Decision == resolveRecheck {
		return d, Invalid("bad_decision", "rechecks are asked for through the flag of the shard", "ostraka flag list, then ostraka flag resolve FLAG --recheck")
	}
	err = s.project(ctx, project, func(tx *store.Tx) error {
		if d, err = getShard(ctx, tx, job, number); err != nil { // there is such a shard
			return err
		}
		if err := audit(ctx, tx, by.Actor(), "shard.resolve", fmt.Sprintf("%s/%d", job, number), map[string]any{"decision": r.Decision, "digest": r.Digest, "reason": r.Reason}); err != nil {
			return err
		}
		steps, err := resolveShards(ctx, tx, project, by, job, []int64{number}, uuid.Nil, r)
		if err != nil {
			return err
		}
		return s.enqueue(ctx, tx, steps...)
	})
	if err != nil {
		return ShardDetail{}, err
	}
	return s.GetShard(ctx, project, job, number)
}

// resolveShards decides about shards alike. Their open flags are decided with them, but for the one that the decision was taken about.
// It returns the steps that follow: enqueueing them leaves the project's role, which is the last thing that a transaction does.
func resolveShards(ctx context.Context, tx *store.Tx, project uuid.UUID, by Principal, job uuid.UUID, numbers []int64, flag uuid.UUID, r Resolution) ([]Step, error) {
	rows, err := store.Many[shardRow](ctx, tx, store.LockShards, job, numbers)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	var changes []shardChange
	var decided []int64
	for _, row := range rows {
		d := ShardDetail{Shard: Shard{Number: row.Number, State: row.State}}
		if len(rows) == 1 {
			if d, err = getShard(ctx, tx, job, row.Number); err != nil {
				return nil, err
			}
		} else if row.State != ShardReview {
			continue // it was decided meanwhile
		}
		change, err := changeFor(d, r)
		if err != nil {
			return nil, err
		}
		change.agentWas, change.unfinal = row.AgentID, row.Awaits != nil
		if err := mayReopen(change); err != nil {
			return nil, err
		}
		changes, decided = append(changes, change), append(decided, row.Number)
	}
	return writeResolution(ctx, tx, project, job, changes, decided, by, flag, r)
}

func writeResolution(ctx context.Context, tx *store.Tx, project, job uuid.UUID, changes []shardChange, numbers []int64, by Principal, flag uuid.UUID, r Resolution) ([]Step, error) {
	if len(changes) == 0 {
		return nil, nil
	}
	c := changes[0] // they are alike
	d := settlement{project: project, job: job, weighed: weighed{changes: changes}, reopened: r.Decision + ": " + r.Reason}
	redraw, err := d.endAuditsByPerson(ctx, tx, numbers)
	if err != nil {
		return nil, err
	}
	if _, err := store.Exec(ctx, tx, store.ResolveShards, job, numbers, c.state, c.wanted, c.agent, c.reasons); err != nil {
		return nil, err
	}
	counted, err := countPages(ctx, tx, project, job, pageDeltas(changes, false))
	if err != nil {
		return nil, err
	}
	steps, err := takeBackFolds(ctx, tx, d.takenBack(), counted)
	if err != nil {
		return nil, err
	}
	if steps, err = scoreFirst(ctx, tx, job, append(counted.settled, steps...)); err != nil {
		return nil, err
	}
	if err := placeJob(ctx, tx, job); err != nil {
		return nil, err
	}
	more, err := drain(ctx, tx, project, job)
	if err != nil {
		return nil, err
	}
	if _, err := store.Exec(ctx, tx, store.ResolveFlags, job, numbers, by.Actor(), r.Decision, r.Digest, r.Reason, flag); err != nil {
		return nil, err
	}
	if err := notify(ctx, tx, channelWork, project); err != nil {
		return nil, err
	}
	return slices.Concat(redraw, steps, more), nil
}

// changeFor is the change of one shard that a decision makes.
func changeFor(d ShardDetail, r Resolution) (shardChange, error) {
	change := shardChange{number: d.Number, was: d.State, reasons: []verify.Reason{{Code: "resolved", Text: r.Decision + ": " + r.Reason}}}
	switch r.Decision {
	case ResolveAccept:
		i := slices.IndexFunc(d.Attempts, func(a Attempt) bool { return a.OutputDigest != "" && a.OutputDigest == r.Digest })
		if i < 0 {
			return change, Invalid("no_such_output", "no attempt of the shard has an output with this digest", "choose the output_digest of one of its attempts")
		}
		change.state, change.agent = ShardAccepted, &d.Attempts[i].Agent
	case ResolveRetry:
		change.state, change.wanted = ShardOpen, 1
	case resolveRecheck:
		change.state = ShardOpen
	case ResolveFail:
		change.state = ShardFailed
	default:
		return change, Invalid("bad_decision", fmt.Sprintf("there is no decision %q", r.Decision), "decide accept, retry or fail")
	}
	return change, nil
}

// mayReopen refuses to decide about a shard that needs no decision. An accepted one may be lent again while the job has not ended, to
// which takeBackFolds holds it when it has the job's lock: what is built on the shard is taken back then.
func mayReopen(c shardChange) error {
	if c.was == ShardReview || c.was == ShardAccepted && c.state == ShardOpen {
		return nil
	}
	return &Error{Kind: KindConflict, Code: "not_in_review", Message: fmt.Sprintf("shard %d is %s", c.number, c.was), Hint: "only shards in review can be resolved; one that was accepted can be lent once more"}
}
