package schedule

import (
	"context"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/schedule/sql"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/tenant"
	"github.com/ostraka/ostraka/guardian"
)

// UpdateSchedule replaces a schedule when its revision is still the one that the caller has read. Its times count from now on.
func (s *Service) UpdateSchedule(ctx context.Context, by functions.Principal, project, id uuid.UUID, spec Spec, revision int64) (Detail, error) {
	job, text, err := s.prepare(ctx, by, project, &spec)
	if err != nil {
		return Detail{}, err
	}
	err = s.change(ctx, project, id, func(tx *store.Tx, r *row) error {
		if r.Revision != revision {
			return functions.ErrRevision
		}
		if err := s.ask(ctx, tx, by, project, spec, job); err != nil {
			return err
		}
		r.Spec, r.Paused = spec, spec.Paused
		if err := r.restart(); err != nil {
			return err
		}
		if _, err := store.Exec(ctx, tx, sql.ReplaceSchedule, id, spec.Name, text, spec.Paused, r.NextAt, by.Actor()); err != nil {
			return tenant.NameTaken(err, "schedule", spec.Name)
		}
		return base.Audit(ctx, tx, by.Actor(), "schedule.update", id.String(), spec.logged())
	})
	if err != nil {
		return Detail{}, err
	}
	return s.GetSchedule(ctx, project, id)
}

// PauseSchedule has no time of a schedule come until it is resumed. Pausing twice is harmless.
func (s *Service) PauseSchedule(ctx context.Context, by functions.Principal, project, id uuid.UUID) (Detail, error) {
	err := s.change(ctx, project, id, func(tx *store.Tx, r *row) error {
		if r.Paused {
			return nil
		}
		if err := s.env.Ask(ctx, tx, stopIntent(by, project, r.Name)); err != nil {
			return err
		}
		r.Paused = true
		if _, err := store.Exec(ctx, tx, sql.PauseSchedule, id, "paused by "+by.Actor()); err != nil {
			return err
		}
		return base.Audit(ctx, tx, by.Actor(), "schedule.pause", id.String(), nil)
	})
	if err != nil {
		return Detail{}, err
	}
	return s.GetSchedule(ctx, project, id)
}

// stopIntent is what takes a schedule's times away, in the words of the guardian: as stopping a job, no project's rule keeps people from it.
func stopIntent(by functions.Principal, project uuid.UUID, name string) base.Intent {
	return base.Intent{By: by, Project: project, Kind: guardian.JobCancel, Subject: "schedule:" + name, Facts: guardian.JobFacts{}}
}

// ResumeSchedule has the times of a paused schedule come again, from now on. Resuming twice is harmless.
func (s *Service) ResumeSchedule(ctx context.Context, by functions.Principal, project, id uuid.UUID) (Detail, error) {
	d, err := s.GetSchedule(ctx, project, id)
	if err != nil || !d.Spec.Paused {
		return d, err
	}
	job, err := s.target(ctx, by, project, &d.Spec)
	if err != nil {
		return Detail{}, err
	}
	err = s.change(ctx, project, id, func(tx *store.Tx, r *row) error {
		if r.Revision != d.Revision {
			return functions.ErrRevision
		}
		if err := s.ask(ctx, tx, by, project, r.spec(), job); err != nil {
			return err
		}
		r.Paused = false
		if err := r.restart(); err != nil {
			return err
		}
		if _, err := store.Exec(ctx, tx, sql.ResumeSchedule, id, r.NextAt, by.Actor()); err != nil {
			return err
		}
		return base.Audit(ctx, tx, by.Actor(), "schedule.resume", id.String(), nil)
	})
	if err != nil {
		return Detail{}, err
	}
	return s.GetSchedule(ctx, project, id)
}

// DeleteSchedule deletes a schedule when its revision is still the one that the caller has read. Jobs that it made stay.
func (s *Service) DeleteSchedule(ctx context.Context, by functions.Principal, project, id uuid.UUID, revision int64) error {
	return s.env.Project(ctx, project, func(tx *store.Tx) error {
		r, err := lock(ctx, tx, id)
		if err != nil {
			return err
		}
		if r.Revision != revision {
			return functions.ErrRevision
		}
		if err := s.env.Ask(ctx, tx, stopIntent(by, project, r.Name)); err != nil {
			return err
		}
		if _, err := store.Exec(ctx, tx, sql.DeleteSchedule, id); err != nil {
			return err
		}
		if err := base.Audit(ctx, tx, by.Actor(), "schedule.delete", id.String(), map[string]any{"name": r.Name}); err != nil {
			return err
		}
		server, err := tx.AsServer(ctx)
		if err != nil {
			return err
		}
		_, err = store.Exec(ctx, server, sql.ForgetDue, id)
		return err
	})
}

func lock(ctx context.Context, tx *store.Tx, id uuid.UUID) (row, error) {
	r, found, err := store.One[row](ctx, tx, sql.LockSchedule, id)
	if err != nil || !found {
		return r, base.OrNotFound(err, "schedule", id)
	}
	return r, nil
}

// change changes a schedule under its lock, and says when it is to be looked at then.
func (s *Service) change(ctx context.Context, project, id uuid.UUID, change func(tx *store.Tx, r *row) error) error {
	return s.env.Project(ctx, project, func(tx *store.Tx) error {
		r, err := lock(ctx, tx, id)
		if err != nil {
			return err
		}
		if err := change(tx, &r); err != nil {
			return err
		}
		return lookAt(ctx, tx, project, r)
	})
}
