package functions

import (
	"context"
	"maps"
	"slices"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/store"
)

// takenBack are changes of shards by which results of a job do not stand any more.
type takenBack struct {
	project, job uuid.UUID
	changes      []shardChange
	reason       string
	tainted      *uuid.UUID // the agent whose results they were, if one was caught
}

// takeBackFolds takes back what the merge trees of a job hold of shards whose results do not stand any more: their pages and the nodes
// above them, nothing else. The pages' rows are locked already, the job's comes next, as everywhere. Pages that are settled all the same,
// with another result, are folded again.
func takeBackFolds(ctx context.Context, tx *store.Tx, d takenBack, counted counted) (steps []Step, err error) {
	changed := map[int64][]int64{}
	for _, c := range d.changes {
		if c.refolds() {
			page := partition.PageOf(c.number)
			changed[page] = append(changed[page], c.number)
		}
	}
	if len(changed) == 0 {
		return nil, nil
	}
	pages := slices.Sorted(maps.Keys(changed))
	for _, page := range pages {
		if _, err := store.Exec(ctx, tx, store.ReopenPage, d.job, page); err != nil {
			return nil, err
		}
	}
	state, _, err := store.Value[JobState](ctx, tx, store.LockJob, d.job)
	if err != nil {
		return nil, err
	}
	if state.Ended() {
		return nil, endedRefold(d, state)
	}
	f, _, err := store.One[foldingRow](ctx, tx, store.GetFolding, d.job, 0)
	if err != nil {
		return nil, err
	}
	if f.State == AggregationFinished { // the answer was made, and the job has not ended by it yet: it is made again
		if _, err := store.Exec(ctx, tx, store.TakeBackAnswer, d.job); err != nil {
			return nil, err
		}
	}
	for _, page := range pages {
		if err := dropFolds(ctx, tx, d.job, f.PagesTotal, page); err != nil {
			return nil, err
		}
		if counted.rows[page].settled() {
			steps = append(steps, AggregateArgs{Project: d.project, Job: d.job, Page: page})
		}
		detail := map[string]any{"shard": changed[page][0], "shards": len(changed[page]), "page": page, "reason": d.reason}
		if d.tainted != nil {
			detail["agent"] = d.tainted
		}
		if err := addEvent(ctx, tx, d.job, EventReopened, detail); err != nil {
			return nil, err
		}
	}
	return steps, nil
}

// endedRefold is nil where all that changes is taken back from a job that has ended: its answer, if it has one, stands as it is.
func endedRefold(d takenBack, state JobState) error {
	for _, c := range d.changes {
		if c.refolds() && c.state != ShardCancelled {
			return ErrJobEnded.with("job %s is %s: shard %d cannot be lent again", d.job, state, c.number)
		}
	}
	return nil
}

// dropFolds drops the fold of a page, and the merges above it.
func dropFolds(ctx context.Context, tx *store.Tx, job uuid.UUID, pages, page int64) error {
	var levels []int32
	var numbers []int64
	for _, n := range pathOf(pages, page) {
		levels, numbers = append(levels, int32(n.level)), append(numbers, n.number)
	}
	_, err := store.Exec(ctx, tx, store.DropPartials, job, levels, numbers)
	return err
}
