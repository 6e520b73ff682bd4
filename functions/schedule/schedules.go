package schedule

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/schedule/sql"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/submit"
	"github.com/ostraka/ostraka/functions/tenant"
)

// CreateSchedule stores a schedule whose job could be submitted now.
func (s *Service) CreateSchedule(ctx context.Context, by functions.Principal, project uuid.UUID, spec Spec, idem functions.Idempotency) (d Detail, replayed bool, err error) {
	job, text, err := s.prepare(ctx, by, project, &spec)
	if err != nil {
		return d, false, err
	}
	id := base.NewID()
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		// The limit and the name may be taken by the schedule that an earlier request with this key made, so the key is looked up first.
		if id, replayed, err = base.RememberInProject(ctx, tx, project, "create-schedule", idem, id); err != nil || replayed {
			return err
		}
		if err := s.ask(ctx, tx, by, project, spec, job); err != nil {
			return err
		}
		r, err := s.insert(ctx, tx, by, id, spec, text, nil)
		if err != nil {
			return err
		}
		return lookAt(ctx, tx, project, r)
	})
	if err != nil {
		return Detail{}, false, err
	}
	d, err = s.GetSchedule(ctx, project, id)
	return d, replayed, err
}

// prepare checks a schedule and its job. Items that were written into the request are an object from here on.
func (s *Service) prepare(ctx context.Context, by functions.Principal, project uuid.UUID, spec *Spec) (*submit.Prepared, []byte, error) {
	if err := check(by, spec); err != nil {
		return nil, nil, err
	}
	job, err := s.target(ctx, by, project, spec)
	if err != nil {
		return nil, nil, err
	}
	if job != nil && spec.Job.Partition.Kind == partition.KindItems {
		stored := job.Partition()
		stored.Size = spec.Job.Partition.Size // what nobody has said is chosen each time
		spec.Job.Partition, spec.Job.Items = stored, nil
	}
	text, err := encode(*spec)
	return job, text, err
}

// insert makes a schedule; of is the workflow in whose folder it stands. Somebody has to say when to look at it.
func (s *Service) insert(ctx context.Context, tx *store.Tx, by functions.Principal, id uuid.UUID, spec Spec, text []byte, of *uuid.UUID) (r row, err error) {
	if _, err := store.Exec(ctx, tx, sql.LockSchedules); err != nil {
		return r, err
	}
	type count struct {
		Schedules int64
		Now       time.Time
	}
	n, _, err := store.One[count](ctx, tx, sql.CountSchedules)
	if err != nil {
		return r, err
	}
	if n.Schedules >= MaxSchedules {
		return r, &functions.Error{Kind: functions.KindConflict, Code: "too_many_schedules", Message: fmt.Sprintf("a project has at most %d schedules", MaxSchedules), Hint: "delete one that is not used"}
	}
	r = row{ID: id, Name: spec.Name, Spec: spec, CreatedAt: n.Now, Paused: spec.Paused, WorkflowID: of, Now: n.Now}
	if err := r.restart(); err != nil {
		return r, err
	}
	if _, err := store.Exec(ctx, tx, sql.AddSchedule, id, spec.Name, text, by.Actor(), spec.Paused, r.NextAt, of); err != nil {
		return r, tenant.NameTaken(err, "schedule", spec.Name)
	}
	return r, base.Audit(ctx, tx, by.Actor(), "schedule.create", id.String(), spec.logged())
}

// restart has the times count from now on.
func (r *row) restart() error {
	times, err := r.times()
	if err != nil {
		return err
	}
	r.NextAt, r.Waits, r.Failures, r.LastError, r.PauseReason = nil, false, 0, "", ""
	if at, found := times.Next(r.Now); found {
		r.NextAt = &at
	}
	return nil
}

// lookAt says when the schedule is to be looked at next; it leaves the project's role.
func lookAt(ctx context.Context, tx *store.Tx, project uuid.UUID, r row) error {
	times, err := r.times()
	if err != nil {
		return err
	}
	return look(ctx, tx, project, r.ID, r.due(times))
}

func look(ctx context.Context, tx *store.Tx, project, id uuid.UUID, at *time.Time) error {
	server, err := tx.AsServer(ctx)
	if err != nil {
		return err
	}
	_, err = store.Exec(ctx, server, sql.LookAt, id, project, at)
	return err
}

// GetSchedule returns one schedule, with the times to come and the outcome of the last ones.
func (s *Service) GetSchedule(ctx context.Context, project, id uuid.UUID) (d Detail, err error) {
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		r, found, err := store.One[row](ctx, tx, sql.GetSchedule, id)
		if err != nil || !found {
			return base.OrNotFound(err, "schedule", id)
		}
		if d.Schedule, err = r.schedule(); err != nil {
			return err
		}
		if d.Next, err = r.coming(); err != nil {
			return err
		}
		d.Firings, err = store.Many[Firing](ctx, tx, sql.ListFirings, id, ShownFirings)
		return err
	})
	return d, err
}

// coming are the next times.
func (r row) coming() ([]Coming, error) {
	list := []Coming{}
	if r.Paused || r.NextAt == nil {
		return list, nil
	}
	times, err := r.times()
	if err != nil {
		return nil, err
	}
	for _, at := range append([]time.Time{*r.NextAt}, times.Upcoming(*r.NextAt, ShownTimes-1)...) {
		list = append(list, Coming{At: at, Due: times.Due(at)})
	}
	return list, nil
}

// ListSchedules lists schedules in the order of their IDs.
func (s *Service) ListSchedules(ctx context.Context, project uuid.UUID, page functions.ListPage) (list []Schedule, err error) {
	after, err := base.AfterID(page)
	if err != nil {
		return nil, err
	}
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		rows, err := store.Many[row](ctx, tx, sql.ListSchedules, after, base.PageLimit(page))
		if err != nil {
			return err
		}
		list = make([]Schedule, len(rows))
		for i, r := range rows {
			if list[i], err = r.schedule(); err != nil {
				return err
			}
		}
		return nil
	})
	return list, err
}
