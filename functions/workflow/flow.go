package workflow

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/planner"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/workflow/graph"
	"github.com/ostraka/ostraka/functions/workflow/sql"
)

// hold marks the stretches of rolling steps whose items are to flow and cannot yet. They are folded when they do, in the same transaction, so
// that each flows once; and since a stretch that is not folded counts as open, a step does not run away from the one that follows it.
func (v view) hold() {
	for number, r := range v.rolling {
		for i := range r.at.Parts {
			r.at.Parts[i].Held = v.holds(number, i)
		}
	}
}

func (v view) holds(number, i int) bool {
	to := v.definition.Follower(number)
	if to < 0 || !v.goesOn() {
		return false
	}
	switch v.steps[to].State {
	case graph.StepWaiting:
		return true
	case graph.StepRunning:
		return v.State == graph.RunPaused || !v.rolling[to].at.Takes(v.rolling[number].at.Parts[i].First)
	default:
		return false
	}
}

// flowsNow is the number of the step to which a stretch flows that is about to be folded; -1: to none.
func (v view) flowsNow(r *rolling, i int) int {
	to := v.definition.Follower(r.Number)
	if to < 0 || !v.goesOn() || v.steps[to].State != graph.StepRunning || r.at.Parts[i].Held {
		return -1
	}
	return to
}

// flow folds a stretch, and has the items that it has found be done by the step that follows: both in one transaction. What is no list of items
// fails that step.
func (s *Service) flow(ctx context.Context, project uuid.UUID, v view, r *rolling, i int, f folded) error {
	to := v.flowsNow(r, i)
	err := s.flowTo(ctx, project, v, r, r.parts[i], f, to)
	var wrong *functions.Error
	switch {
	case !errors.As(err, &wrong) || wrong.Kind == functions.KindUnavailable:
		return err
	case wrong.Kind == functions.KindExhausted:
		return s.wait(ctx, project, v, to, sql.SayRollingWaits, wrong)
	default:
		return s.settle(ctx, project, v, to, graph.StepFailed, wrong.Code+": "+wrong.Message)
	}
}

func (s *Service) flowTo(ctx context.Context, project uuid.UUID, v view, r *rolling, from partRow, f folded, to int) error {
	step := v.definition.Steps[to]
	lines, n, err := s.flowing(ctx, project, step, *from.JobID)
	if err != nil {
		return err
	}
	stretch := partition.Range{From: integer(from.First), To: integer(from.Last)}
	if n == 0 {
		return s.revise(ctx, project, v, func(tx *store.Tx) error {
			if err := s.keepFold(ctx, tx, v, r, f); err != nil {
				return err
			}
			return s.passOver(ctx, tx, v, to, stretch)
		})
	}
	values, err := v.definition.Values(v.Parameters)
	if err != nil {
		return badWorkflow(err)
	}
	want, err := v.job(step, values)
	if err != nil {
		return err
	}
	want.Items = lines
	job, err := s.submit.Prepare(ctx, project, want)
	if err != nil {
		return err
	}
	return s.submitPrepared(ctx, project, v, job, func(tx *store.Tx) error {
		if err := s.keepFold(ctx, tx, v, r, f); err != nil {
			return err
		}
		return s.putPart(ctx, tx, v, to, stretch, job.Shards(), job.Partition().Object, graph.PartOpen, new(job.ID()), "")
	})
}

// flowing are the items that a job has found, a line each.
func (s *Service) flowing(ctx context.Context, project uuid.UUID, step graph.Step, from uuid.UUID) (lines []byte, n int, err error) {
	job, err := s.jobs.GetJob(ctx, project, from)
	if err != nil {
		return nil, 0, err
	}
	answer, err := s.answer(ctx, project, job.ID, job.Aggregate)
	if err != nil {
		return nil, 0, err
	}
	if len(answer) > planner.MaxAggregateBytes {
		return nil, 0, tooLong(step.Map.Source.Step)
	}
	lines, n, err = step.Items(answer)
	return lines, n, badWorkflow(err)
}

// passOver writes that there is nothing to do for a stretch: it becomes part of the one before it.
func (s *Service) passOver(ctx context.Context, tx *store.Tx, v view, number int, stretch partition.Range) error {
	n, err := store.Exec(ctx, tx, sql.StretchPart, v.ID, number, stretch.From.String(), stretch.To.String())
	if err != nil {
		return err
	}
	if n == 0 { // it is the first
		if _, err := store.Exec(ctx, tx, sql.AddDonePart, v.ID, number, stretch.From.String(), stretch.To.String(), 0, 0, nil); err != nil {
			return err
		}
	}
	if _, err := store.Exec(ctx, tx, sql.MoveNext, v.ID, number, stretch.To.String()); err != nil {
		return fmt.Errorf("passing over a stretch: %w", err)
	}
	return nil
}
