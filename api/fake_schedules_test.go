package api_test

import (
	"context"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/schedule"
)

// scheduled is a schedule that can be shown.
func scheduled() schedule.Schedule {
	return schedule.Schedule{ID: thingID, Revision: 7, Spec: schedule.Spec{Name: "s", Every: "1h", Job: functions.NewJob{
		Function: "f", Partition: partition.Spec{Kind: partition.KindObjects, Objects: partition.Objects{}},
	}}}
}

func detailed() schedule.Detail {
	return schedule.Detail{Schedule: scheduled(), Next: []schedule.Coming{}, Firings: []schedule.Firing{}}
}

func (f *fake) CreateSchedule(_ context.Context, _ functions.Principal, _ uuid.UUID, _ schedule.Spec, idem functions.Idempotency) (schedule.Detail, bool, error) {
	f.idem = idem
	return detailed(), f.replayed, f.begin()
}

func (f *fake) ListSchedules(_ context.Context, _ uuid.UUID, page functions.ListPage) ([]schedule.Schedule, error) {
	return list(f, page, func(int) schedule.Schedule { return scheduled() })
}

func (f *fake) GetSchedule(context.Context, uuid.UUID, uuid.UUID) (schedule.Detail, error) {
	return detailed(), f.begin()
}

func (f *fake) UpdateSchedule(_ context.Context, _ functions.Principal, _, _ uuid.UUID, _ schedule.Spec, revision int64) (schedule.Detail, error) {
	f.revision = revision
	return detailed(), f.begin()
}

func (f *fake) PauseSchedule(context.Context, functions.Principal, uuid.UUID, uuid.UUID) (schedule.Detail, error) {
	return detailed(), f.begin()
}

func (f *fake) ResumeSchedule(context.Context, functions.Principal, uuid.UUID, uuid.UUID) (schedule.Detail, error) {
	return detailed(), f.begin()
}

func (f *fake) DeleteSchedule(_ context.Context, _ functions.Principal, _, _ uuid.UUID, revision int64) error {
	f.revision = revision
	return f.begin()
}

func (f *fake) RunSchedule(_ context.Context, _ functions.Principal, _, _ uuid.UUID, idem functions.Idempotency) (functions.Job, bool, error) {
	f.idem = idem
	return f.job, f.replayed, f.begin()
}
