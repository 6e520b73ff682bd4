package jobs

import (
	"context"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
)

// DrainRow is how much a job has left to do.
type DrainRow struct {
	State       functions.JobState
	PagesTotal  int64
	Open        int64 // open shards, and pages that are not made yet
	Provisional int64
	Run         int
	PagesFolded int64
	Aggregation functions.AggregationState
}

// Drain decides the next step of a job without open shards: audits of results that are not final, or the answer where all are. It
// locks the job: of two transactions that make the last results final, the second sees both.
func Drain(ctx context.Context, tx *store.Tx, project, job uuid.UUID) ([]functions.Step, error) {
	if _, _, err := store.Value[functions.JobState](ctx, tx, store.LockJob, job); err != nil {
		return nil, err
	}
	left, found, err := store.One[DrainRow](ctx, tx, store.JobDrain, job)
	switch {
	case err != nil || !found || left.State.Ended() || left.Open > 0:
		return nil, err
	case left.Provisional > 0:
		return []functions.Step{stepargs.TailArgs{Project: project, Job: job}}, nil
	case left.PagesFolded == left.PagesTotal && left.Aggregation == functions.AggregationFolding:
		return []functions.Step{stepargs.MergeArgs{Project: project, Job: job, Run: left.Run}}, nil
	default:
		return nil, nil
	}
}
