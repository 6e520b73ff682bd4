package functions

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/store"
)

// mayReopen refuses to decide about a shard that needs no decision. An accepted one may be lent again while the job has not ended:
// what is built on it is taken back then.
func mayReopen(ctx context.Context, tx *store.Tx, job uuid.UUID, c shardChange) error {
	if c.was != ShardAccepted || c.state != ShardOpen {
		return &Error{Kind: KindConflict, Code: "not_in_review", Message: fmt.Sprintf("shard %d is %s", c.number, c.was), Hint: "only shards in review can be resolved; one that was accepted can be lent once more"}
	}
	state, _, err := store.Value[JobState](ctx, tx, store.GetJobState, job)
	if err != nil {
		return err
	}
	if state.Ended() {
		return ErrJobEnded.with("job %s is %s: shard %d cannot be lent again", job, state, c.number)
	}
	return nil
}

// reopen takes back what the merge trees of a job hold of a shard that was accepted: its page and the nodes above it, nothing else.
// The page's row is locked already, the job's comes next, as everywhere.
func reopen(ctx context.Context, tx *store.Tx, job uuid.UUID, shard int64, why string) error {
	page := partition.PageOf(shard)
	if _, err := store.Exec(ctx, tx, store.ReopenPage, job, page); err != nil {
		return err
	}
	state, _, err := store.Value[JobState](ctx, tx, store.LockJob, job)
	if err != nil {
		return err
	}
	if state.Ended() {
		return ErrJobEnded.with("job %s has ended meanwhile: shard %d cannot be lent again", job, shard)
	}
	f, _, err := store.One[foldingRow](ctx, tx, store.GetFolding, job, 0)
	if err != nil {
		return err
	}
	var levels []int32
	var numbers []int64
	for _, n := range pathOf(f.PagesTotal, page) {
		levels, numbers = append(levels, int32(n.level)), append(numbers, n.number)
	}
	if _, err := store.Exec(ctx, tx, store.DropPartials, job, levels, numbers); err != nil {
		return err
	}
	return addEvent(ctx, tx, job, EventReopened, map[string]any{"shard": shard, "reason": why})
}
