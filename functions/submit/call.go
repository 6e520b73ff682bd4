package submit

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/partition"
)

// CallFunction submits a job of one shard and waits for its output. Whatever becomes of the waiting, the job continues: once it is submitted
// the answer names it.
func (s *Service) CallFunction(ctx context.Context, by functions.Principal, project uuid.UUID, want functions.NewJob, wait time.Duration, idem functions.Idempotency) (functions.Call, bool, error) {
	want.Partition, want.Aggregator = partition.Spec{Kind: partition.KindItems}, functions.NoAggregator
	id, _, replayed, err := s.submitJob(ctx, by, project, want, idem)
	if err != nil {
		return functions.Call{}, false, err
	}
	now, err := s.jobs.WaitJob(ctx, project, id, wait)
	if err != nil && ctx.Err() != nil { // it is not waited for any longer, which says nothing about the job
		now, err = s.jobs.GetJob(context.WithoutCancel(ctx), project, id)
	}
	if err != nil {
		return functions.Call{}, false, fmt.Errorf("waiting for job %s: %w", id, err)
	}
	call := callOf(now)
	switch now.State {
	case functions.JobFinished:
		return call, replayed, s.readOutput(ctx, project, &call)
	case functions.JobFailed:
		return call, replayed, functions.ErrCallFailed.With("job %s failed: %s", now.ID, now.Error)
	case functions.JobCancelled, functions.JobDeleting:
		return call, replayed, functions.ErrCallFailed.With("job %s was cancelled", now.ID)
	default:
		return call, replayed, nil
	}
}

// readOutput adds the output of a call that has one.
func (s *Service) readOutput(ctx context.Context, project uuid.UUID, call *functions.Call) error {
	for line, err := range s.jobs.Results(ctx, project, call.Job, jobs.ResultQuery{After: -1}) {
		if err != nil {
			return fmt.Errorf("reading the output of job %s: %w", call.Job, err)
		}
		if call.Output = line.Output; call.Output == nil {
			call.OutputObject = line.OutputDigest
		}
	}
	return nil
}

// callOf is what a job says of a call, but for its output.
func callOf(j functions.Job) functions.Call {
	c := functions.Call{Job: j.ID, State: j.State, Function: j.Function, Version: j.Version, Policy: j.Policy, Executions: j.Attempts}
	if v := j.Verification; v != nil {
		c.Executions += v.Rechecks
		if j.State == functions.JobFinished {
			c.Bound = &v.AnswerRisk
		}
	}
	return c
}
