package trust

import (
	"context"
	"encoding/hex"
	"slices"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/flag"
	"github.com/ostraka/ostraka/functions/jobs"
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
		return flag.FlagSandbox, true
	default:
		return flag.FlagLimit, true
	}
}

// reportUnusual makes flags and events for what a person may want to see.
func reportUnusual(ctx context.Context, tx *store.Tx, job uuid.UUID, w Weighed) error {
	var marks []flag.Mark
	for _, c := range w.Changes {
		marks = append(marks, marksOf(c, job)...)
		marks = append(marks, statusMarks(job, c, w.attempts[c.Number], w.agent)...)
	}
	for _, a := range w.late {
		marks = append(marks, flag.Mark{
			Kind: flag.FlagContradiction, Job: job, Shard: &a.Shard, Agent: &a.AgentID, Decision: string(functions.ShardAccepted),
			Detail: map[string]any{"shard": a.Shard, "agent": a.AgentID, "outcome": hex.EncodeToString(a.Outcome)},
		})
	}
	return flag.Raise(ctx, tx, append(marks, w.Marks...)...)
}

// statusMarks is the flag for the attempt that the submission brought, where it passed a limit or its sandbox refused something.
func statusMarks(job uuid.UUID, c jobs.ShardChange, attempts []attemptRow, agent uuid.UUID) []flag.Mark {
	i := slices.IndexFunc(attempts, func(a attemptRow) bool { return a.AgentID == agent })
	if i < 0 {
		return nil
	}
	kind, deserves := kindOfStatus(attempts[i].Status)
	if !deserves {
		return nil
	}
	return []flag.Mark{{
		Kind: kind, Rule: string(attempts[i].Status), Job: job, Shard: &c.Number, Agent: &agent, Decision: string(c.State),
		Detail: map[string]any{"shard": c.Number},
	}}
}

// marksOf are what the change of a shard says by itself.
func marksOf(c jobs.ShardChange, job uuid.UUID) (marks []flag.Mark) {
	detail := map[string]any{"shard": c.Number, "reasons": c.Reasons}
	switch {
	case c.Was == c.State && !c.Refolds():
	case c.State == functions.ShardReview:
		marks = append(marks, flag.Mark{Kind: flag.FlagReview, Job: job, Shard: &c.Number, Decision: string(c.State), Event: base.EventReview, Detail: detail})
	case c.State == functions.ShardFailed:
		marks = append(marks, flag.Mark{Kind: flag.FlagFailed, Job: job, Shard: &c.Number, Decision: string(c.State), Event: base.EventShardFailed, Detail: detail})
	case c.State == functions.ShardAccepted:
		for _, agent := range c.Disagree {
			marks = append(marks, flag.Mark{Kind: flag.FlagMismatch, Rule: ruleVotes, Job: job, Shard: &c.Number, Agent: &agent, Decision: string(c.State), Detail: detail})
		}
	}
	return marks
}
