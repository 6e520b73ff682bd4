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

// recheckWork is what a batch executes.
type recheckWork struct {
	project   uuid.UUID
	job       uuid.UUID
	state     functions.JobState
	numbers   []int64
	policy    verify.Policy
	validator *functions.ValidatorRef
	function  registry.FunctionRow
	held      bool          // by a switch, or since the project's budget is spent
	left      time.Duration // of the budget
	shards    []recheck.Shard

	facts      guardian.Job
	conditions guardian.Conditions // that the job must keep to
}

// long says whether its shards may take so long that they have a lane of their own.
func (w *recheckWork) long() bool { return w.function.Manifest.Limits.WallSeconds > LongWallSeconds }

// sub is the work as what is weighed.
func (w *recheckWork) sub(runs map[int64][]serverRun) submissionRow {
	return submissionRow{JobID: w.job, Shards: shardsRun(runs), Policy: w.policy, Validator: w.validator}
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

// read reads the inputs as agents get them.
func (w *recheckWork) read(ctx context.Context, tx *store.Tx) (err error) {
	job, _, err := store.One[recheckJob](ctx, tx, sql.RecheckJob, w.job)
	if err != nil {
		return err
	}
	w.state, w.policy, w.validator, w.facts = job.State, job.Policy, job.Validator, job.facts(w.job)
	if job.Conditions != nil {
		w.conditions = *job.Conditions
	}
	if w.function, _, err = store.One[registry.FunctionRow](ctx, tx, store.FunctionOfJob, w.job); err != nil {
		return err
	}
	inputs, err := store.Many[jobs.PickedShard](ctx, tx, store.ShardInputs, w.job, w.numbers)
	if err != nil {
		return err
	}
	for _, in := range inputs {
		shard := recheck.Shard{Number: in.Number, Input: jobs.ShardInput(job.Partition, in.Number, in.Input)}
		if job.Partition.Files() {
			if shard.Files, err = inputfile.Parse(shard.Input); err != nil {
				return fmt.Errorf("reading shard %d of job %s: %w", in.Number, w.job, err)
			}
		}
		w.shards = append(w.shards, shard)
	}
	order := make(map[int64]int, len(w.numbers)) // in which they were claimed, not that of their numbers
	for i, n := range w.numbers {
		order[n] = i
	}
	slices.SortFunc(w.shards, func(a, b recheck.Shard) int { return order[a.Number] - order[b.Number] })
	return nil
}
