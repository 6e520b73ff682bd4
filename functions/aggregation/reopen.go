package aggregation

import (
	"context"
	"maps"
	"slices"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/aggregation/sql"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
)

// TakenBack are changes of shards by which results of a job do not stand any more.
type TakenBack struct {
	Project, Job uuid.UUID
	Changes      []jobs.ShardChange
	Reason       string
	Tainted      *uuid.UUID // the agent whose results they were, if one was caught
}

// TakeBack takes back what the merge trees of a job hold of shards whose results do not stand any more: their pages and the nodes
// above them, nothing else. The pages' rows are locked already, the job's comes next, as everywhere. Pages that are settled all the same,
// with another result, are folded again.
func TakeBack(ctx context.Context, tx *store.Tx, d TakenBack, counted jobs.PageCounts) (steps []functions.Step, err error) {
	changed := map[int64][]int64{}
	for _, c := range d.Changes {
		if c.Refolds() {
			page := partition.PageOf(c.Number)
			changed[page] = append(changed[page], c.Number)
		}
	}
	if len(changed) == 0 {
		return nil, nil
	}
	pages := slices.Sorted(maps.Keys(changed))
	for _, page := range pages {
		if _, err := store.Exec(ctx, tx, sql.ReopenPage, d.Job, page); err != nil {
			return nil, err
		}
	}
	state, _, err := store.Value[functions.JobState](ctx, tx, store.LockJob, d.Job)
	if err != nil {
		return nil, err
	}
	if state.Ended() {
		return nil, endedRefold(d, state)
	}
	f, _, err := store.One[FoldingRow](ctx, tx, store.GetFolding, d.Job, 0)
	if err != nil {
		return nil, err
	}
	if f.State == functions.AggregationFinished { // the answer was made, and the job has not ended by it yet: it is made again
		if _, err := store.Exec(ctx, tx, sql.TakeBackAnswer, d.Job); err != nil {
			return nil, err
		}
	}
	for _, page := range pages {
		if err := dropFolds(ctx, tx, d.Job, f.PagesTotal, page); err != nil {
			return nil, err
		}
		if counted.Rows[page].Settled() {
			steps = append(steps, stepargs.AggregateArgs{Project: d.Project, Job: d.Job, Page: page})
		}
		detail := map[string]any{"shard": changed[page][0], "shards": len(changed[page]), "page": page, "reason": d.Reason}
		if d.Tainted != nil {
			detail["agent"] = d.Tainted
		}
		if err := base.AddEvent(ctx, tx, d.Job, base.EventReopened, detail); err != nil {
			return nil, err
		}
	}
	return steps, nil
}

// endedRefold is nil where all that changes is taken back from a job that has ended: its answer, if it has one, stands as it is.
func endedRefold(d TakenBack, state functions.JobState) error {
	for _, c := range d.Changes {
		if c.Refolds() && c.State != functions.ShardCancelled {
			return functions.ErrJobEnded.With("job %s is %s: shard %d cannot be lent again", d.Job, state, c.Number)
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
	_, err := store.Exec(ctx, tx, sql.DropPartials, job, levels, numbers)
	return err
}
