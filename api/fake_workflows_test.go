package api_test

import (
	"context"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/workflow"
	"github.com/ostraka/ostraka/functions/workflow/graph"
)

// pushed is a workflow that can be shown.
func pushed() workflow.Workflow {
	return workflow.Workflow{Name: "w", Newest: 7, Version: 7, Definition: &graph.Definition{Name: "w"}, Functions: []workflow.PinnedFunction{}}
}

func ran() workflow.RunDetail {
	return workflow.RunDetail{Run: workflow.Run{ID: thingID, Workflow: "w", State: graph.RunRunning, Functions: []workflow.PinnedFunction{}}, Steps: []workflow.RunStep{}}
}

func (f *fake) PushWorkflow(context.Context, functions.Principal, uuid.UUID, workflow.Push) (workflow.Workflow, bool, error) {
	return pushed(), !f.replayed, f.begin()
}

func (f *fake) ListWorkflows(_ context.Context, _ uuid.UUID, page functions.ListPage) ([]workflow.Workflow, error) {
	return list(f, page, func(int) workflow.Workflow { return pushed() })
}

func (f *fake) GetWorkflow(context.Context, uuid.UUID, string, int) (workflow.Workflow, error) {
	return pushed(), f.begin()
}

func (f *fake) DeleteWorkflow(_ context.Context, _ functions.Principal, _ uuid.UUID, _ string, newest int64) error {
	f.revision = newest
	return f.begin()
}

func (f *fake) StartWorkflow(_ context.Context, _ functions.Principal, _ uuid.UUID, _ workflow.Start, idem functions.Idempotency) (workflow.RunDetail, bool, error) {
	f.idem = idem
	return ran(), f.replayed, f.begin()
}

func (f *fake) ListWorkflowRuns(_ context.Context, _ uuid.UUID, _ workflow.RunFilter, page functions.ListPage) ([]workflow.Run, error) {
	return list(f, page, func(int) workflow.Run { return ran().Run })
}

func (f *fake) GetWorkflowRun(context.Context, uuid.UUID, uuid.UUID) (workflow.RunDetail, error) {
	return ran(), f.begin()
}

func (f *fake) PauseWorkflowRun(context.Context, functions.Principal, uuid.UUID, uuid.UUID) (workflow.RunDetail, error) {
	return ran(), f.begin()
}

func (f *fake) ResumeWorkflowRun(context.Context, functions.Principal, uuid.UUID, uuid.UUID) (workflow.RunDetail, error) {
	return ran(), f.begin()
}

func (f *fake) CancelWorkflowRun(context.Context, functions.Principal, uuid.UUID, uuid.UUID) (workflow.RunDetail, error) {
	return ran(), f.begin()
}

func (f *fake) DeleteWorkflowRun(context.Context, functions.Principal, uuid.UUID, uuid.UUID) error {
	return f.begin()
}
