package schedule

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/schedule/sql"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/tenant"
	"github.com/ostraka/ostraka/functions/timetable"
	"github.com/ostraka/ostraka/functions/workflow/graph"
)

// SyncSchedules has a workflow have the schedules of its folder, and no others: in the transaction that makes a version of it, whose last thing
// it is. Those that are as they shall be stay untouched, their times as well, and one that is paused stays so. What it makes is paused if paused
// says so: nothing of a project that is imported may begin by itself.
func (s *Service) SyncSchedules(ctx context.Context, tx *store.Tx, by functions.Principal, project, workflow uuid.UUID, name string, list []graph.Schedule, paused bool) error {
	old, err := store.Many[row](ctx, tx, sql.SchedulesOfWorkflow, workflow)
	if err != nil {
		return err
	}
	var changed, gone []row
	for _, r := range old { // first, so that their names are free
		if !slices.ContainsFunc(list, func(g graph.Schedule) bool { return g.Name == r.Name }) {
			if err := s.removeSynced(ctx, tx, by, project, r); err != nil {
				return fmt.Errorf("schedule %s: %w", r.Name, err)
			}
			gone = append(gone, r)
		}
	}
	for _, g := range list {
		spec := specOf(g, name)
		spec.Paused = paused && !slices.ContainsFunc(old, func(r row) bool { return r.Name == g.Name })
		r, done, err := s.syncSchedule(ctx, tx, by, project, workflow, spec, old)
		if err != nil {
			return fmt.Errorf("schedule %s: %w", g.Name, err)
		}
		if done {
			changed = append(changed, r)
		}
	}
	return s.lookAtSynced(ctx, tx, project, changed, gone)
}

// specOf is a schedule of a folder as the project has it. It names no version: the newest is the one that it came with.
func specOf(g graph.Schedule, workflow string) Spec {
	return Spec{
		Name: g.Name, Cron: g.Cron, Every: g.Every, TimeZone: g.TimeZone, Jitter: g.Jitter, Overlap: Overlap(g.Overlap), CatchUp: timetable.CatchUp(g.CatchUp),
		Starts: g.Starts, Ends: g.Ends, Workflow: &WorkflowUse{Name: workflow, Parameters: g.Parameters},
	}
}

// syncSchedule makes one schedule, or changes the one that there is.
func (s *Service) syncSchedule(ctx context.Context, tx *store.Tx, by functions.Principal, project, workflow uuid.UUID, spec Spec, old []row) (r row, changed bool, err error) {
	if err := check(by, &spec); err != nil {
		return r, false, err
	}
	text, err := encode(spec)
	if err != nil {
		return r, false, err
	}
	i := slices.IndexFunc(old, func(r row) bool { return r.Name == spec.Name })
	if i >= 0 {
		if same, _, err := store.Value[bool](ctx, tx, sql.SameSpec, old[i].ID, text); err != nil || same {
			return r, false, err
		}
	}
	if err := s.ask(ctx, tx, by, project, spec, nil); err != nil {
		return r, false, err
	}
	if i < 0 {
		r, err = s.insert(ctx, tx, by, base.NewID(), spec, text, &workflow)
		return r, true, err
	}
	r = old[i]
	r.Spec = spec
	reason := r.PauseReason
	if err := r.restart(); err != nil {
		return r, false, err
	}
	r.PauseReason = reason
	if _, err := store.Exec(ctx, tx, sql.SyncSchedule, r.ID, spec.Name, text, r.NextAt, by.Actor()); err != nil {
		return r, false, tenant.NameTaken(err, "schedule", spec.Name)
	}
	return r, true, base.Audit(ctx, tx, by.Actor(), "schedule.update", r.ID.String(), spec.logged())
}

func (s *Service) removeSynced(ctx context.Context, tx *store.Tx, by functions.Principal, project uuid.UUID, r row) error {
	if err := s.env.Ask(ctx, tx, stopIntent(by, project, r.Name)); err != nil {
		return err
	}
	if _, err := store.Exec(ctx, tx, sql.DeleteSchedule, r.ID); err != nil {
		return err
	}
	return base.Audit(ctx, tx, by.Actor(), "schedule.delete", r.ID.String(), map[string]any{"name": r.Name})
}

// lookAtSynced says when to look at what was changed, by the server's role.
func (s *Service) lookAtSynced(ctx context.Context, tx *store.Tx, project uuid.UUID, changed, gone []row) error {
	for _, r := range changed {
		if err := lookAt(ctx, tx, project, r); err != nil {
			return err
		}
	}
	if len(gone) == 0 {
		return nil
	}
	server, err := tx.AsServer(ctx)
	if err != nil {
		return err
	}
	for _, r := range gone {
		if _, err := store.Exec(ctx, server, sql.ForgetDue, r.ID); err != nil {
			return err
		}
	}
	return nil
}
