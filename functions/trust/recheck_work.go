package trust

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/trust/sql"
	"github.com/ostraka/ostraka/functions/verify"
	"github.com/ostraka/ostraka/guardian"
	"github.com/ostraka/ostraka/runtime/inputfile"
	"github.com/ostraka/ostraka/runtime/recheck"
)

// RecheckWork is what a batch executes.
type RecheckWork struct {
	Project   uuid.UUID
	Job       uuid.UUID
	State     functions.JobState
	Numbers   []int64
	Policy    verify.Policy
	Validator *functions.ValidatorRef
	Function  registry.FunctionRow
	Held      bool          // by a switch, or since the project's budget is spent
	Left      time.Duration // of the budget
	Shards    []recheck.Shard

	Facts      guardian.Job
	Conditions guardian.Conditions // that the job must keep to
}

// Long says whether its shards may take so long that they have a lane of their own.
func (w *RecheckWork) Long() bool { return w.Function.Manifest.Limits.WallSeconds > LongWallSeconds }

// sub is the work as what is weighed.
func (w *RecheckWork) sub(runs map[int64][]ServerRun) SubmissionRow {
	return SubmissionRow{JobID: w.Job, Shards: shardsRun(runs), Policy: w.Policy, Validator: w.Validator}
}

// recheckJob is what a job wants of rechecks.
type recheckJob struct {
	State      functions.JobState
	Policy     verify.Policy
	Partition  partition.Spec
	Validator  *functions.ValidatorRef
	Shards     int64
	Depth      int
	Priority   int
	Conditions *guardian.Conditions
}

// Read reads the inputs as agents get them.
func (w *RecheckWork) Read(ctx context.Context, tx *store.Tx) (err error) {
	job, _, err := store.One[recheckJob](ctx, tx, sql.RecheckJob, w.Job)
	if err != nil {
		return err
	}
	w.State, w.Policy, w.Validator, w.Facts = job.State, job.Policy, job.Validator, job.facts(w.Job)
	if job.Conditions != nil {
		w.Conditions = *job.Conditions
	}
	if w.Function, _, err = store.One[registry.FunctionRow](ctx, tx, store.FunctionOfJob, w.Job); err != nil {
		return err
	}
	inputs, err := store.Many[jobs.PickedShard](ctx, tx, store.ShardInputs, w.Job, w.Numbers)
	if err != nil {
		return err
	}
	for _, in := range inputs {
		shard := recheck.Shard{Number: in.Number, Input: jobs.ShardInput(job.Partition, in.Number, in.Input)}
		if job.Partition.Files() {
			if shard.Files, err = inputfile.Parse(shard.Input); err != nil {
				return fmt.Errorf("reading shard %d of job %s: %w", in.Number, w.Job, err)
			}
		}
		w.Shards = append(w.Shards, shard)
	}
	order := make(map[int64]int, len(w.Numbers)) // in which they were claimed, not that of their numbers
	for i, n := range w.Numbers {
		order[n] = i
	}
	slices.SortFunc(w.Shards, func(a, b recheck.Shard) int { return order[a.Number] - order[b.Number] })
	return nil
}
