package api_test

import (
	"context"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/bulk"
)

// bulkOf is a bulk action that has done something.
func bulkOf(project uuid.UUID) functions.BulkActionDetail {
	d := functions.BulkActionDetail{BulkAction: functions.BulkAction{
		ID: thingID, Subject: functions.BulkAgents, Action: "exclude", Undo: "admit", State: functions.BulkFinished, Total: 3, Done: 2, Failed: 1, CreatedAt: when,
	}, Failures: []functions.BulkFailure{{Item: agentID, Code: "not_found", Message: "it is gone"}}}
	if project != uuid.Nil {
		d.Project = &project
		return d
	}
	d.Action, d.Undo = "drain", "resume"
	return d
}

func (f *fake) PlanBulkAction(context.Context, uuid.UUID, bulk.Start) (functions.BulkPlan, error) {
	return functions.BulkPlan{Total: 1, First: []uuid.UUID{thingID}}, f.begin()
}

func (f *fake) StartBulkAction(_ context.Context, _ functions.Principal, project uuid.UUID, start bulk.Start, idem functions.Idempotency) (functions.BulkActionDetail, bool, error) {
	f.idem, f.bulk = idem, start
	return bulkOf(project), f.replayed, f.begin()
}

func (f *fake) ListBulkActions(_ context.Context, project uuid.UUID, page functions.ListPage) ([]functions.BulkAction, error) {
	return list(f, page, func(int) functions.BulkAction { return bulkOf(project).BulkAction })
}

func (f *fake) GetBulkAction(_ context.Context, project, _ uuid.UUID) (functions.BulkActionDetail, error) {
	d := bulkOf(project)
	if f.bulkRuns {
		d.State, d.Undo = functions.BulkRunning, ""
	}
	return d, f.begin()
}

func (f *fake) CancelBulkAction(_ context.Context, _ functions.Principal, project, _ uuid.UUID) (functions.BulkActionDetail, error) {
	return bulkOf(project), f.begin()
}

func (f *fake) RetryBulkAction(_ context.Context, _ functions.Principal, project, _ uuid.UUID) (functions.BulkActionDetail, error) {
	return bulkOf(project), f.begin()
}

func (f *fake) UndoBulkAction(_ context.Context, _ functions.Principal, project, _ uuid.UUID, _ string, idem functions.Idempotency) (functions.BulkActionDetail, bool, error) {
	f.idem = idem
	return bulkOf(project), f.replayed, f.begin()
}
