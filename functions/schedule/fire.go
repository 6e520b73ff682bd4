package schedule

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/schedule/sql"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/submit"
	"github.com/ostraka/ostraka/functions/timetable"
)

// queueLook is after how long a time that waits for a job looks whether it has ended.
const queueLook = 10 * time.Second

// errChanged says that the schedule was changed or fired since it was read. That transaction wrote when to look again.
var errChanged = errors.New("the schedule has changed meanwhile")

// firing is one look at one schedule.
type firing struct {
	row
	project uuid.UUID
	times   *timetable.Timetable
	turn    timetable.Turn
	open    []openTarget // jobs and runs of earlier times that have not ended
	job     *submit.Prepared
	run     *uuid.UUID // of a workflow, instead of a job
}

// Fire serves one time of a schedule that is due, and says when the next one is. The time is written in the transaction that makes its job or run,
// so that it comes once.
func (s *Service) Fire(ctx context.Context, args stepargs.FireScheduleArgs) error {
	f, err := s.readFiring(ctx, args)
	if err != nil || f == nil {
		return err
	}
	switch err = s.serve(ctx, f); {
	case errors.Is(err, errChanged):
		return nil
	case theirs(err):
		err = s.fail(ctx, f, err)
	}
	if err != nil && !errors.Is(err, errChanged) {
		return fmt.Errorf("firing schedule %s: %w", args.Schedule, err)
	}
	return nil
}

// theirs says whether an error is the schedule's or its project's: it is recorded, and the next time may go better. Any other is the server's,
// and the same time is tried again.
func theirs(err error) bool {
	var wrong *functions.Error
	return errors.As(err, &wrong) && wrong.Kind != functions.KindUnavailable
}

// readFiring reads a schedule; nil: there is none, or nothing of it is to come.
func (s *Service) readFiring(ctx context.Context, args stepargs.FireScheduleArgs) (f *firing, err error) {
	err = s.env.Project(ctx, args.Project, func(tx *store.Tx) error {
		r, found, err := store.One[row](ctx, tx, sql.GetSchedule, args.Schedule)
		if err != nil || !found || r.Paused || r.NextAt == nil {
			return err
		}
		f = &firing{row: r, project: args.Project}
		if f.times, err = r.times(); err != nil {
			return err
		}
		f.turn = f.times.Turn(*r.NextAt, r.Now, r.Spec.CatchUp)
		if r.Waits {
			f.turn = f.times.Only(*r.NextAt)
		}
		f.open, err = store.Many[openTarget](ctx, tx, sql.OpenFirings, r.ID)
		return err
	})
	return f, err
}

// serve does what the time asks for.
func (s *Service) serve(ctx context.Context, f *firing) error {
	overlaps := !f.turn.At.IsZero() && len(f.open) > 0
	switch {
	case f.turn.At.IsZero():
		return s.advance(ctx, f, nil)
	case overlaps && f.Spec.Overlap == OverlapSkip:
		return s.advance(ctx, f, &Firing{At: f.turn.At, Outcome: Skipped, Detail: f.open[0].String() + " has not ended"})
	case overlaps && f.Spec.Overlap == OverlapQueue:
		return s.wait(ctx, f)
	}
	if err := s.choose(ctx, f); err != nil {
		return err
	}
	if overlaps {
		if err := s.stopOthers(ctx, f); err != nil {
			return err
		}
	}
	done := &Firing{At: f.turn.At, Outcome: Submitted, RunID: f.run}
	if f.job != nil {
		done.JobID = new(f.job.ID())
	}
	return s.advance(ctx, f, done)
}

// step is what has the guardian decide.
func (f *firing) step() base.Intent {
	return base.Intent{Step: stepargs.FireScheduleArgs{}.Kind(), Project: f.project}
}

func (f *firing) actor() string { return "schedule:" + f.Name }

// stopOthers cancels the jobs and runs of earlier times, once it is known that another one can take their place.
func (s *Service) stopOthers(ctx context.Context, f *firing) error {
	for _, open := range f.open {
		if open.Run {
			if err := s.workflows.StopRun(ctx, f.step(), open.ID, f.actor()); err != nil {
				return err
			}
			continue
		}
		if err := s.jobs.StopJob(ctx, f.step(), open.ID, f.actor()); err != nil && !errors.Is(err, functions.ErrJobEnded) {
			return err
		}
	}
	return nil
}

// wait keeps a time until what an earlier one has made has ended, whatever else comes meanwhile.
func (s *Service) wait(ctx context.Context, f *firing) error {
	return s.underLock(ctx, f, func(tx *store.Tx) error {
		if err := f.addMissed(ctx, tx); err != nil {
			return err
		}
		if _, err := store.Exec(ctx, tx, sql.AdvanceSchedule, f.ID, f.turn.At, true, f.Failures, f.LastError); err != nil {
			return err
		}
		return look(ctx, tx, f.project, f.ID, new(f.Now.Add(queueLook)))
	})
}

// advance writes the outcome of a time, makes its job where it has one, and continues to the next time. nil: no time was served.
func (s *Service) advance(ctx context.Context, f *firing, done *Firing) error {
	next := f.row
	if next.NextAt, next.Waits = nil, false; !f.turn.Next.IsZero() {
		next.NextAt = &f.turn.Next
	}
	if done != nil && done.Outcome == Submitted {
		next.Failures, next.LastError = 0, ""
	}
	return s.underLock(ctx, f, func(tx *store.Tx) error {
		first, err := f.add(ctx, tx, done)
		if err != nil {
			return err
		}
		if _, err := store.Exec(ctx, tx, sql.AdvanceSchedule, f.ID, next.NextAt, next.Waits, next.Failures, next.LastError); err != nil {
			return err
		}
		makes := first && done != nil && done.Outcome == Submitted
		if makes {
			if err := s.make(ctx, tx, f); err != nil {
				return err
			}
		}
		if err := look(ctx, tx, f.project, f.ID, next.due(f.times)); err != nil || !makes || f.job == nil {
			return err
		}
		return s.submit.Open(ctx, tx.Tx, f.project, f.job)
	})
}

// fail writes down why a time came to no job. After too many in a row the schedule is paused.
func (s *Service) fail(ctx context.Context, f *firing, why error) error {
	var wrong *functions.Error
	errors.As(why, &wrong)
	next := f.row
	next.Waits, next.Failures, next.LastError = false, f.Failures+1, wrong.Code+": "+wrong.Message
	if next.NextAt = nil; !f.turn.Next.IsZero() {
		next.NextAt = &f.turn.Next
	}
	return s.underLock(ctx, f, func(tx *store.Tx) error {
		if _, err := f.add(ctx, tx, &Firing{At: f.turn.At, Outcome: Failed, Detail: next.LastError}); err != nil {
			return err
		}
		if _, err := store.Exec(ctx, tx, sql.AdvanceSchedule, f.ID, next.NextAt, false, next.Failures, next.LastError); err != nil {
			return err
		}
		if next.Failures >= MaxFailures {
			next.Paused = true
			reason := fmt.Sprintf("%d times in a row failed, the last one so: %s", next.Failures, next.LastError)
			if _, err := store.Exec(ctx, tx, sql.PauseSchedule, f.ID, reason); err != nil {
				return err
			}
			if err := base.Audit(ctx, tx, f.actor(), "schedule.pause", f.ID.String(), map[string]any{"reason": reason}); err != nil {
				return err
			}
		}
		return look(ctx, tx, f.project, f.ID, next.due(f.times))
	})
}

// underLock runs fn under the schedule's lock; the schedule must still be as it was read.
func (s *Service) underLock(ctx context.Context, f *firing, fn func(tx *store.Tx) error) error {
	return s.env.Project(ctx, f.project, func(tx *store.Tx) error {
		if f.run != nil { // as a push locks them: workflows first
			if err := s.workflows.LockWorkflows(ctx, tx); err != nil {
				return err
			}
		}
		now, found, err := store.One[row](ctx, tx, sql.LockSchedule, f.ID)
		if err != nil {
			return err
		}
		if !found || now.Paused || now.Revision != f.Revision || now.Waits != f.Waits || now.NextAt == nil || !now.NextAt.Equal(*f.NextAt) {
			return errChanged
		}
		return fn(tx)
	})
}

// add writes the outcome of times. first is false where that is written already: Postgres' clock was set back.
func (f *firing) add(ctx context.Context, tx *store.Tx, done *Firing) (first bool, err error) {
	if err := f.addMissed(ctx, tx); err != nil {
		return false, err
	}
	if done != nil {
		n, err := store.Exec(ctx, tx, sql.AddFiring, f.ID, done.At, done.Outcome, false, done.JobID, done.RunID, done.Detail)
		if err != nil {
			return false, err
		}
		first = n == 1
	}
	_, err = store.Exec(ctx, tx, sql.ForgetFirings, f.ID, KeptFirings-1)
	return first, err
}

// addMissed writes which times were passed over, as one.
func (f *firing) addMissed(ctx context.Context, tx *store.Tx) error {
	if f.turn.MissedFrom.IsZero() {
		return nil
	}
	detail := fmt.Sprintf("the times from %s to %s had passed at %s", f.turn.MissedFrom.Format(time.RFC3339), f.turn.MissedUntil.Format(time.RFC3339), f.Now.UTC().Format(time.RFC3339))
	n, err := store.Exec(ctx, tx, sql.AddFiring, f.ID, f.turn.MissedUntil, Missed, false, nil, nil, detail)
	if err != nil || n == 0 {
		return err
	}
	return base.Announce(ctx, tx, functions.WebhookScheduleMissed, nil, map[string]any{
		"project": f.project, "schedule": f.ID, "name": f.Name, "from": f.turn.MissedFrom, "until": f.turn.MissedUntil,
		"url": fmt.Sprintf("/v1/projects/%s/schedules/%s", f.project, f.ID),
	})
}
