package workflow

import (
	"context"

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
	r.Size = c.Size(*r, job.Partition.Range.Size, measured.Times.WallP50)
	return nil
}
