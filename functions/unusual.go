package functions

import (
	"context"
	"encoding/hex"
	"slices"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/verify"
)

// ruleVotes is the rule of a mismatch that the other agents' votes have shown.
const ruleVotes = "votes"

// kindOfStatus is the kind of flag that an attempt with the status deserves; an answer or an exception of the function deserves none.
func kindOfStatus(status verify.Status) (kind string, deserves bool) {
	switch status {
	case verify.OK, verify.Error:
		return "", false
	case verify.Killed, verify.Denied:
		return FlagSandbox, true
	default:
		return FlagLimit, true
	}
}

// reportUnusual makes flags and events for what a person may want to see.
func reportUnusual(ctx context.Context, tx *store.Tx, job uuid.UUID, w weighed) error {
	var marks []Mark
	for _, c := range w.changes {
		marks = append(marks, marksOf(c, job)...)
		marks = append(marks, statusMarks(job, c, w.attempts[c.number], w.agent)...)
	}
	for _, a := range w.late {
		marks = append(marks, Mark{
			Kind: FlagContradiction, Job: job, Shard: &a.Shard, Agent: &a.AgentID, Decision: string(ShardAccepted),
			Detail: map[string]any{"shard": a.Shard, "agent": a.AgentID, "outcome": hex.EncodeToString(a.Outcome)},
		})
	}
	return raiseFlags(ctx, tx, append(marks, w.marks...)...)
}

// statusMarks is the flag for the attempt that the submission brought, where it passed a limit or its sandbox refused something.
func statusMarks(job uuid.UUID, c shardChange, attempts []attemptRow, agent uuid.UUID) []Mark {
	i := slices.IndexFunc(attempts, func(a attemptRow) bool { return a.AgentID == agent })
	if i < 0 {
		return nil
	}
	kind, deserves := kindOfStatus(attempts[i].Status)
	if !deserves {
		return nil
	}
	return []Mark{{
		Kind: kind, Rule: string(attempts[i].Status), Job: job, Shard: &c.number, Agent: &agent, Decision: string(c.state),
		Detail: map[string]any{"shard": c.number},
	}}
}

// marksOf are what the change of a shard says by itself.
func marksOf(c shardChange, job uuid.UUID) (marks []Mark) {
	detail := map[string]any{"shard": c.number, "reasons": c.reasons}
	switch {
	case c.was == c.state && !c.refolds():
	case c.state == ShardReview:
		marks = append(marks, Mark{Kind: FlagReview, Job: job, Shard: &c.number, Decision: string(c.state), Event: EventReview, Detail: detail})
	case c.state == ShardFailed:
		marks = append(marks, Mark{Kind: FlagFailed, Job: job, Shard: &c.number, Decision: string(c.state), Event: EventShardFailed, Detail: detail})
	case c.state == ShardAccepted:
		for _, agent := range c.disagree {
			marks = append(marks, Mark{Kind: FlagMismatch, Rule: ruleVotes, Job: job, Shard: &c.number, Agent: &agent, Decision: string(c.state), Detail: detail})
		}
	}
	return marks
}
