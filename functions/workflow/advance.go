package workflow

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/workflow/graph"
	"github.com/ostraka/ostraka/functions/workflow/sql"
)

// errChanged says that somebody changed the run since it was read: it is read again.
var errChanged = errors.New("the run has changed meanwhile")

// Advance continues a run as far as possible: one transaction for each thing to do, which is decided again each time.
func (s *Service) Advance(ctx context.Context, args stepargs.AdvanceRunArgs) error {
	if err := s.wake(ctx, args); err != nil {
		return err
	}
	mine := base.NewSlice()
	for {
		v, found, err := s.view(ctx, args.Project, args.Run)
		if err != nil || !found {
			return err
		}
		at := make([]graph.Progress, len(v.steps))
		for i, row := range v.steps {
			at[i] = v.progress(row.Number)
		}
		err = s.next(ctx, args.Project, v, at)
		if errors.Is(err, errNothing) || errors.Is(err, errWaits) {
			return nil
		}
		if err != nil && !errors.Is(err, errChanged) {
			return fmt.Errorf("going on with run %s of workflow %s: %w", args.Run, v.Workflow, err)
		}
		if err := mine.Over(); err != nil {
			return err
		}
	}
}

// errNothing says that nothing is to be done for a run until a job ends or somebody acts.
var errNothing = errors.New("nothing is to be done for the run")

// next does what comes next: what jobs of rolling steps have come to, then what the steps ask for, then further jobs of rolling steps.
func (s *Service) next(ctx context.Context, project uuid.UUID, v view, at []graph.Progress) error {
	if p, some := v.clear(); some {
		return s.actOn(ctx, project, v, p)
	}
	if next := graph.Next(v.State, v.definition.Steps, at); next.Kind != graph.ActNothing {
		return s.act(ctx, project, v, next)
	}
	if p, some := v.further(); some {
		return s.actOn(ctx, project, v, p)
	}
	return errNothing
}

func (s *Service) act(ctx context.Context, project uuid.UUID, v view, next graph.Action) error {
	switch next.Kind {
	case graph.ActSettle:
		if v.searches(next.Step) {
			return s.bisect(ctx, project, v, next.Step)
		}
		state, why := settled(v.steps[next.Step])
		if _, searching := v.bisections.at[next.Step]; searching {
			state, why = graph.StepFailed, "the search for the wrong shard was stopped"
		}
		if r := v.rolling[next.Step]; r != nil {
			state, why = r.settled()
		}
		if state == graph.StepFinished && v.definition.Steps[next.Step].Type == graph.StepReport {
			return s.finishReport(ctx, project, v, next.Step)
		}
		if v.State == graph.RunCancelled && state == graph.StepFailed {
			state = graph.StepCancelled
		}
		return s.settle(ctx, project, v, next.Step, state, why)
	case graph.ActStop:
		return s.stop(ctx, project, v, v.steps[next.Step])
	case graph.ActDrop:
		return s.revise(ctx, project, v, func(tx *store.Tx) error {
			_, err := store.Exec(ctx, tx, sql.DropSteps, v.ID, next.Drop)
			return err
		})
	case graph.ActBegin:
		return s.begin(ctx, project, v, next.Step)
	default:
		return s.end(ctx, project, v, next.State)
	}
}

// settled is the outcome of a step whose job has ended.
func settled(row stepRow) (graph.StepState, string) {
	switch {
	case row.JobState == nil || *row.JobState == functions.JobDeleting:
		return graph.StepFailed, "its job was deleted"
	case row.Fold != nil && row.FoldState == nil:
		return graph.StepFailed, "its aggregation was deleted"
	case row.Fold != nil && *row.FoldState == functions.AggregationFailed:
		return graph.StepFailed, fmt.Sprintf("aggregation %d of job %s failed: %s", *row.Fold, row.JobID, *row.FoldError)
	case row.Fold != nil:
		return graph.StepFinished, ""
	case *row.JobState == functions.JobFinished:
		return graph.StepFinished, ""
	case *row.JobError != "":
		return graph.StepFailed, fmt.Sprintf("job %s is %s: %s", row.JobID, *row.JobState, *row.JobError)
	default:
		return graph.StepFailed, fmt.Sprintf("job %s is %s", row.JobID, *row.JobState)
	}
}

// settle writes the outcome of a step.
func (s *Service) settle(ctx context.Context, project uuid.UUID, v view, step int, state graph.StepState, why string) error {
	return s.settleWith(ctx, project, v, step, state, why, func(*store.Tx) error { return nil })
}

// settleWith is settle with what else is to be written.
func (s *Service) settleWith(ctx context.Context, project uuid.UUID, v view, step int, state graph.StepState, why string, also func(tx *store.Tx) error) error {
	return s.underLock(ctx, project, v, func(tx *store.Tx) error {
		if err := also(tx); err != nil {
			return err
		}
		why = kept(why)
		if _, err := store.Exec(ctx, tx, sql.SettleStep, v.ID, step, state, why); err != nil {
			return err
		}
		said := ""
		if state == graph.StepFailed && v.Error == "" {
			said = fmt.Sprintf("step %s: %s", v.steps[step].Name, why)
		}
		_, err := store.Exec(ctx, tx, sql.MoveRun, v.ID, v.State, said)
		return err
	})
}

// maxWhy is how much is kept of why a step failed, in bytes.
const maxWhy = 8 << 10

// kept is what Postgres keeps of a reason: messages quote answers, parameters and the workflow, and Postgres has no text with a NUL.
func kept(why string) string {
	why = strings.ReplaceAll(strings.ToValidUTF8(why, "\uFFFD"), "\x00", "")
	if len(why) > maxWhy {
		why = strings.ToValidUTF8(why[:maxWhy], "")
	}
	return why
}

// stop cancels the job, or the fold, of a cancelled run. That it has ended is seen the next time round.
func (s *Service) stop(ctx context.Context, project uuid.UUID, v view, row stepRow) error {
	if row.Fold != nil {
		return s.aggregation.StopFold(ctx, project, *row.JobID, *row.Fold, "cancelled by "+v.actor())
	}
	return s.stopJob(ctx, project, v, *row.JobID)
}

// stopJob cancels a job of the run. One that has ended, or is gone, needs nothing.
func (s *Service) stopJob(ctx context.Context, project uuid.UUID, v view, job uuid.UUID) error {
	err := s.jobs.StopJob(ctx, base.Intent{Step: stepargs.AdvanceRunArgs{}.Kind(), Project: project}, job, v.actor())
	if errors.Is(err, functions.ErrJobEnded) || missing(err) {
		return nil
	}
	return err
}

func missing(err error) bool {
	var wrong *functions.Error
	return errors.As(err, &wrong) && (wrong.Kind == functions.KindNotFound || wrong.Kind == functions.KindGone)
}

// end writes that a run has come to its end.
func (s *Service) end(ctx context.Context, project uuid.UUID, v view, state graph.RunState) error {
	return s.underLock(ctx, project, v, func(tx *store.Tx) error {
		if _, err := store.Exec(ctx, tx, sql.MoveRun, v.ID, state, ""); err != nil {
			return err
		}
		return base.Audit(ctx, tx, v.actor(), "workflow.end", v.ID.String(), map[string]any{"state": state, "error": v.Error})
	})
}

// actor is the run in the words of the log.
func (v view) actor() string { return "workflow:" + v.Workflow }

// revise is underLock for what changes the steps of a run, and leaves it in its state: that makes a revision of the run.
func (s *Service) revise(ctx context.Context, project uuid.UUID, v view, fn func(tx *store.Tx) error) error {
	return s.underLock(ctx, project, v, func(tx *store.Tx) error {
		if _, err := store.Exec(ctx, tx, sql.MoveRun, v.ID, v.State, ""); err != nil {
			return err
		}
		return fn(tx)
	})
}

// underLock runs fn under the run's lock; the run must still be as it was read.
func (s *Service) underLock(ctx context.Context, project uuid.UUID, v view, fn func(tx *store.Tx) error) error {
	return s.env.Project(ctx, project, func(tx *store.Tx) error {
		now, found, err := store.One[lockedRun](ctx, tx, sql.LockRun, v.ID)
		if err != nil {
			return err
		}
		if !found || now.Revision != v.Revision {
			return errChanged
		}
		return fn(tx)
	})
}
