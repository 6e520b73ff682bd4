package engine

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/dispatch"
	"github.com/ostraka/ostraka/functions/stepargs"
)

// Record stores the results of a lease, and carries out what follows from them where the job is small.
func (s *Service) Record(ctx context.Context, agent, lease uuid.UUID, sub dispatch.Submission) (dispatch.Recorded, error) {
	if !s.shortcuts {
		return s.Dispatch.Record(ctx, agent, lease, sub)
	}
	ctx, shortcut := functions.WithShortcut(ctx)
	recorded, err := s.Dispatch.Record(ctx, agent, lease, sub)
	if err == nil {
		s.carry(ctx, shortcut)
	}
	return recorded, err
}

// carry carries out the steps that the queue has kept for a request, and those that these make, one after the other: the same steps that
// workers would, which do nothing twice. The request's client may leave meanwhile; what fails is left to the workers.
//
// The commits between the verdict and the end of the job do not wait for the disk: the end's does, and with it all before are there. So they
// are settled when the job has ended, or not at all: where Postgres dies in between, what it has lost is still in the queue.
func (s *Service) carry(ctx context.Context, shortcut *functions.Shortcut) {
	if len(shortcut.Kept) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), functions.ShortcutLimit)
	defer cancel()
	settled := 0
	for done := 0; done < len(shortcut.Kept) && ctx.Err() == nil; done++ {
		step := shortcut.Kept[done].Step
		shortcut.Relaxed = relaxed(step)
		if err := s.step(ctx, step); err != nil {
			s.log.Debug("a request leaves a step to the workers", "step", step.Kind(), "error", err)
			break
		}
		if s.outlives(ctx, step) {
			settled = done + 1
		}
	}
	shortcut.Relaxed = false
	if err := s.queue.Settle(context.WithoutCancel(ctx), shortcut.Kept[:settled], shortcut.Kept[settled:]); err != nil {
		s.log.Debug("the workers will find steps done", "error", err)
	}
}

// relaxed says whether a step's commit need not wait for the disk, since that of one that follows does.
func relaxed(step functions.Step) bool {
	switch step.(type) {
	case stepargs.AggregateArgs, stepargs.MergeArgs:
		return true
	default:
		return false
	}
}

// outlives says whether what a step did, and those before it, outlives Postgres. The end of a job tells: where a part of the way to it was
// lost, there is no end.
func (s *Service) outlives(ctx context.Context, step functions.Step) bool {
	args, end := step.(stepargs.FinishArgs)
	if !end {
		return !relaxed(step)
	}
	job, err := s.GetJob(ctx, args.Project, args.Job)
	return err == nil && job.State.Ended()
}

// step carries out one of the steps that stepargs.Shortens names.
func (s *Service) step(ctx context.Context, step functions.Step) error {
	switch args := step.(type) {
	case stepargs.VerifyArgs:
		return s.Verify(ctx, args)
	case stepargs.AggregateArgs:
		return s.Aggregate(ctx, args)
	case stepargs.MergeArgs:
		return s.Merge(ctx, args)
	case stepargs.FinishArgs:
		return s.Finish(ctx, args)
	default:
		return fmt.Errorf("a request cannot carry out a step %s", step.Kind())
	}
}
