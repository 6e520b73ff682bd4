package workflow

import (
	"context"
	"fmt"
	"math/big"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/workflow/graph"
)

// calibrate makes the shards of a range as long as the step says, by what the executions of the step before it took that gave an answer. The
// median is what counts: what a few agents say of their own time does not move it.
func (s *Service) calibrate(ctx context.Context, project uuid.UUID, v view, c graph.Calibration, r *partition.Range) error {
	row := v.steps[v.definition.Number(c.By)]
	if row.JobID == nil {
		return functions.NotFound("job of step", c.By)
	}
	job, err := s.jobs.GetJob(ctx, project, *row.JobID)
	if err != nil {
		return err
	}
	measured, err := s.jobs.Measure(ctx, project, job)
	if err != nil {
		return err
	}
	if measured.Times.WallP50 <= 0 {
		return notCalibrated(c.By)
	}
	r.Size = c.Size(*r, shardOf(job.Partition.Range), measured.Times.WallP50)
	return nil
}

// shardOf is how many integers the first shard of a range has: the last has fewer, and of a range that is shorter than its size says it is the first.
func shardOf(r partition.Range) *big.Int {
	size := new(big.Int).Sub(r.To, r.From)
	if size.Cmp(r.Size) > 0 {
		size.Set(r.Size)
	}
	return size
}

// notCalibrated says that nobody knows how long the shards of a step took.
func notCalibrated(step string) error {
	return functions.Invalid("not_measured", fmt.Sprintf("nobody knows how long the shards of step %s took: no execution of them gave an answer", step),
		"give the step a size, or run the workflow anew so that its trial is executed")
}
