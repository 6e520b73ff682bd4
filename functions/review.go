package functions

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/verify"
)

// The decisions that a person can take about a shard in review.
const (
	ResolveAccept = "accept" // one of the outputs, named by its digest
	ResolveRetry  = "retry"  // lend it once more; also an accepted shard, as long as the job has not ended
	ResolveFail   = "fail"
)

// MaxResolutionReason is the longest reason of a resolution, in bytes.
const MaxResolutionReason = 2000

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// ResolveShard carries out a person's decision about a shard in review. The reason goes into the audit log.
func (s *Service) ResolveShard(ctx context.Context, by Principal, project, job uuid.UUID, number int64, r Resolution) (d ShardDetail, err error) {
	if len(r.Reason) == 0 || len(r.Reason) > MaxResolutionReason {
		return d, Invalid("bad_reason", fmt.Sprintf("a reason of 1 to %d bytes is required", MaxResolutionReason), "say why: it is kept in the audit log")
	}
	err = s.project(ctx, project, func(tx *store.Tx) error {
		if d, err = getShard(ctx, tx, job, number); err != nil {
			return err
		}
		rows, err := store.Many[shardRow](ctx, tx, store.LockShards, job, []int64{number})
		if err != nil {
			return err
		}
		change, err := resolve(d, r)
		if err != nil {
			return err
		}
		if change.was = rows[0].State; change.was != ShardReview {
			if err := mayReopen(ctx, tx, job, change); err != nil {
				return err
			}
		}
		if err := audit(ctx, tx, by.Actor(), "shard.resolve", fmt.Sprintf("%s/%d", job, number), map[string]any{"decision": r.Decision, "digest": r.Digest, "reason": r.Reason}); err != nil {
			return err
		}
		return s.writeResolution(ctx, tx, project, job, change, by, r)
	})
	if err != nil {
		return ShardDetail{}, err
	}
	return s.GetShard(ctx, project, job, number)
}

func resolve(d ShardDetail, r Resolution) (shardChange, error) {
	change := shardChange{number: d.Number, was: ShardReview, reasons: []verify.Reason{{Code: "resolved", Text: r.Decision + ": " + r.Reason}}}
	switch r.Decision {
	case ResolveAccept:
		i := slices.IndexFunc(d.Attempts, func(a Attempt) bool { return a.OutputDigest != "" && a.OutputDigest == r.Digest })
		if i < 0 {
			return change, Invalid("no_such_output", "no attempt of the shard has an output with this digest", "choose the output_digest of one of its attempts")
		}
		change.state, change.agent = ShardAccepted, &d.Attempts[i].Agent
	case ResolveRetry:
		change.state, change.wanted = ShardOpen, 1
	case ResolveFail:
		change.state = ShardFailed
	default:
		return change, Invalid("bad_decision", fmt.Sprintf("there is no decision %q", r.Decision), "decide accept, retry or fail")
	}
	return change, nil
}

func (s *Service) writeResolution(ctx context.Context, tx *store.Tx, project, job uuid.UUID, c shardChange, by Principal, r Resolution) error {
	if _, err := store.Exec(ctx, tx, store.ResolveShard, job, c.number, c.state, c.wanted, c.agent, c.reasons); err != nil {
		return err
	}
	if _, err := store.Exec(ctx, tx, store.ResolveFlags, job, c.number, by.Actor(), r.Decision, r.Digest, r.Reason); err != nil {
		return err
	}
	counted, err := countPages(ctx, tx, project, job, pageDeltas([]shardChange{c}, false))
	if err != nil {
		return err
	}
	if c.was == ShardAccepted {
		if err := reopen(ctx, tx, job, c.number, r.Decision+": "+r.Reason); err != nil {
			return err
		}
	}
	if err := placeJob(ctx, tx, job); err != nil {
		return err
	}
	if err := notify(ctx, tx, channelWork, project); err != nil {
		return err
	}
	return s.enqueue(ctx, tx, counted.settled...)
}
