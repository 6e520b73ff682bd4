package planner

import "context"

// Plan applies rules to a finished job. existing are the follow-ups that
// already exist under the same root job, whatever rule and parent they have.
// Every rule leads to exactly one follow-up or one skip, in the order of the
// rules. An expression is interrupted when ctx ends, which is a skip with
// SkipError: give ctx a deadline of about a second.
func Plan(ctx context.Context, rules []*Compiled, job Finished, existing []Key) ([]FollowUp, []Skip) {
	panic("not yet")
}
