package api_test

import (
	"context"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/bulk"
)

// bulkOf is a bulk action that has done something.
func bulkOf(project uuid.UUID) bulk.BulkActionDetail {
	d := bulk.BulkActionDetail{BulkAction: bulk.BulkAction{
		ID: thingID, Subject: bulk.BulkAgents, Action: "exclude", Undo: "admit", State: bulk.BulkFinished, Total: 3, Done: 2, Failed: 1, CreatedAt: when,
	}, Failures: []bulk.BulkFailure{{Item: agentID, Code: "not_found", Message: "it is gone"}}}
	if project != uuid.Nil {
		d.Project = &project
		return d
	}
	d.Action, d.Undo = "drain", "resume"
	return d
}

func (f *fake) PlanBulkAction(context.Context, uuid.UUID, bulk.Start) (bulk.BulkPlan, error) {
	return bulk.BulkPlan{Total: 1, First: []uuid.UUID{thingID}}, f.begin()
}

func (f *fake) StartBulkAction(_ context.Context, _ functions.Principal, project uuid.UUID, start bulk.Start, idem functions.Idempotency) (bulk.BulkActionDetail, bool, error) {
	f.idem, f.bulk = idem, start
	return bulkOf(project), f.replayed, f.begin()
}

func (f *fake) ListBulkActions(_ context.Context, project uuid.UUID, page functions.ListPage) ([]bulk.BulkAction, error) {
	return list(f, page, func(int) bulk.BulkAction { return bulkOf(project).BulkAction })
}

func (f *fake) GetBulkAction(_ context.Context, project, _ uuid.UUID) (bulk.BulkActionDetail, error) {
	d := bulkOf(project)
	if f.bulkRuns {
		d.State, d.Undo = bulk.BulkRunning, ""
	}
	return d, f.begin()
}

func (f *fake) CancelBulkAction(_ context.Context, _ functions.Principal, project, _ uuid.UUID) (bulk.BulkActionDetail, error) {
	return bulkOf(project), f.begin()
}

func (f *fake) RetryBulkAction(_ context.Context, _ functions.Principal, project, _ uuid.UUID) (bulk.BulkActionDetail, error) {
	return bulkOf(project), f.begin()
}

func (f *fake) UndoBulkAction(_ context.Context, _ functions.Principal, project, _ uuid.UUID, _ string, idem functions.Idempotency) (bulk.BulkActionDetail, bool, error) {
	f.idem = idem
	return bulkOf(project), f.replayed, f.begin()
}
