package api

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/workflow"
	"github.com/ostraka/ostraka/functions/workflow/graph"
)

// Workflows is what the API asks of the domain about workflows and their runs.
type Workflows interface {
	PushWorkflow(ctx context.Context, by functions.Principal, project uuid.UUID, push workflow.Push) (w workflow.Workflow, created bool, err error)
	ListWorkflows(ctx context.Context, project uuid.UUID, page functions.ListPage) ([]workflow.Workflow, error)
	GetWorkflow(ctx context.Context, project uuid.UUID, name string, version int) (workflow.Workflow, error) // version 0 is the newest
	DeleteWorkflow(ctx context.Context, by functions.Principal, project uuid.UUID, name string, newest int64) error
	StartWorkflow(ctx context.Context, by functions.Principal, project uuid.UUID, start workflow.Start, idem functions.Idempotency) (r workflow.RunDetail, replayed bool, err error)
	ListWorkflowRuns(ctx context.Context, project uuid.UUID, filter workflow.RunFilter, page functions.ListPage) ([]workflow.Run, error)
	GetWorkflowRun(ctx context.Context, project, id uuid.UUID) (workflow.RunDetail, error)
	PauseWorkflowRun(ctx context.Context, by functions.Principal, project, id uuid.UUID) (workflow.RunDetail, error)
	ResumeWorkflowRun(ctx context.Context, by functions.Principal, project, id uuid.UUID) (workflow.RunDetail, error)
	CancelWorkflowRun(ctx context.Context, by functions.Principal, project, id uuid.UUID) (workflow.RunDetail, error)
	DeleteWorkflowRun(ctx context.Context, by functions.Principal, project, id uuid.UUID) error
	Campaigns
}

// maxWorkflowBody is the largest request about a workflow, in bytes: the definition as a JSON string, which may double it, and the functions.
const maxWorkflowBody = 2*graph.MaxDefinitionBytes + 64<<10

// WorkflowPath names a workflow of a project.
type WorkflowPath struct {
	InProject
	Name string `path:"name" doc:"The workflow's name."`
}

func (p WorkflowPath) ids() (project uuid.UUID, name string, err error) {
	if project, err = p.id(); err != nil {
		return project, "", err
	}
	if !isName(p.Name) {
		return project, "", functions.NotFound("workflow", p.Name)
	}
	return project, p.Name, nil
}

// PushWorkflowInput is a version of a workflow to make.
type PushWorkflowInput struct {
	InProject
	Body PushWorkflowRequest
}

// GetWorkflowInput asks for a version of a workflow.
type GetWorkflowInput struct {
	WorkflowPath
	Version int `query:"version" minimum:"1" maximum:"2147483647" doc:"The newest when left out."`
}

// DeleteWorkflowInput deletes a workflow.
type DeleteWorkflowInput struct {
	WorkflowPath
	Conditional
}

// StartWorkflowInput starts a run.
type StartWorkflowInput struct {
	WorkflowPath
	Body StartWorkflowRequest
}

// ListWorkflowRunsInput asks for runs.
type ListWorkflowRunsInput struct {
	ListInProject
	Workflow string `query:"workflow" maxLength:"63" doc:"Only runs of this workflow."`
	State    string `query:"state" enum:"running,paused,finished,failed,cancelled"`
}

// WorkflowRunPath names a run of a workflow.
type WorkflowRunPath struct {
	InProject
	Run PathID `path:"run"`
}

func (p WorkflowRunPath) ids() (project, run uuid.UUID, err error) {
	return p.and("workflow run", p.Run)
}

type pushedWorkflowOutput struct {
	Status   int
	Location string `header:"Location"`
	ETag     string `header:"ETag"`
	Body     WorkflowDetail
}

type workflowOutput struct {
	ETag string `header:"ETag"`
	Body WorkflowDetail
}

type startedWorkflowOutput struct {
	Replayed
	Location string `header:"Location"`
	Body     WorkflowRunDetail
}

type workflowRunOutput struct {
	Body WorkflowRunDetail
}

func (s *server) workflowOperations() {
	const path = "/v1/projects/{project}/workflows"
	const one = path + "/{name}"
	register(s, operation{
		id: "pushWorkflow", method: http.MethodPost, path: path, tag: "workflows", summary: "Push a version of a workflow",
		about:  "Its functions and modules were pushed before, and are named with their versions; its files were stored before. What is the newest version already makes none: 200 instead of 201.",
		access: roles(functions.RoleOwner), status: http.StatusCreated, body: body{limit: maxWorkflowBody},
		answers: alsoOK(s, WorkflowDetail{}, "This is the newest version already."),
	}, s.pushWorkflow)
	register(s, operation{
		id: "listWorkflows", method: http.MethodGet, path: path, tag: "workflows", summary: "List workflows", about: "The newest version of each, by name.", access: readers(),
	}, s.listWorkflows)
	register(s, operation{
		id: "getWorkflow", method: http.MethodGet, path: one, tag: "workflows", summary: "Get a workflow",
		about: "The ETag is of the newest version.", access: readers(),
	}, s.getWorkflow)
	register(s, operation{
		id: "deleteWorkflow", method: http.MethodDelete, path: one, tag: "workflows", summary: "Delete a workflow with its versions and runs",
		about: "One with a run that has not ended stays. Functions and jobs are not deleted.", access: roles(functions.RoleOwner), status: http.StatusNoContent,
	}, s.deleteWorkflow)
	register(s, operation{
		id: "startWorkflow", method: http.MethodPost, path: one + "/runs", tag: "workflows", summary: "Start a run of a workflow",
		about:  "It keeps to the version, and so to the digests of all functions and modules, whatever is pushed later.",
		access: runners(), status: http.StatusCreated, body: body{limit: maxWorkflowBody}, retry: retryWithKey,
	}, s.startWorkflow)
	s.workflowRunOperations()
}

func (s *server) workflowRunOperations() {
	const path = "/v1/projects/{project}/workflow-runs"
	const one = path + "/{run}"
	register(s, operation{
		id: "listWorkflowRuns", method: http.MethodGet, path: path, tag: "workflows", summary: "List runs of workflows", about: "The newest first.", access: readers(),
	}, s.listWorkflowRuns)
	register(s, operation{
		id: "getWorkflowRun", method: http.MethodGet, path: one, tag: "workflows", summary: "Get a run with its steps", access: readers(),
	}, s.getWorkflowRun)
	register(s, operation{
		id: "pauseWorkflowRun", method: http.MethodPost, path: one + "/pause", tag: "workflows", summary: "Pause a run",
		about: "No further step begins until it is resumed. Jobs that are under way go on.", access: runners(),
	}, s.pauseWorkflowRun)
	register(s, operation{
		id: "resumeWorkflowRun", method: http.MethodPost, path: one + "/resume", tag: "workflows", summary: "Resume a paused run", access: runners(),
	}, s.resumeWorkflowRun)
	register(s, operation{
		id: "cancelWorkflowRun", method: http.MethodPost, path: one + "/cancel", tag: "workflows", summary: "Cancel a run and its jobs", access: runners(),
	}, s.cancelWorkflowRun)
	register(s, operation{
		id: "deleteWorkflowRun", method: http.MethodDelete, path: one, tag: "workflows", summary: "Delete a run that has ended", about: "Its jobs stay.",
		access: roles(functions.RoleOwner), status: http.StatusNoContent,
	}, s.deleteWorkflowRun)
	s.campaignOperations(one)
}

func (s *server) pushWorkflow(ctx context.Context, c *call, in *PushWorkflowInput) (*pushedWorkflowOutput, error) {
	project, err := in.id()
	if err != nil {
		return nil, err
	}
	w, created, err := s.service.PushWorkflow(ctx, c.principal, project, in.Body.push())
	if err != nil {
		return nil, err
	}
	return &pushedWorkflowOutput{
		Status: createdStatus(created), Location: "/v1/projects/" + string(in.Project) + "/workflows/" + w.Name,
		ETag: revisionTag(int64(w.Newest)), Body: workflowDetailOf(w),
	}, nil
}

func (s *server) listWorkflows(ctx context.Context, c *call, in *ListInProject) (*Listed[Workflow], error) {
	list := func(ctx context.Context, project uuid.UUID, page functions.ListPage) ([]Workflow, error) {
		rows, err := s.service.ListWorkflows(ctx, project, page)
		list := make([]Workflow, len(rows))
		for i, w := range rows {
			list[i] = workflowOf(w)
		}
		return list, err
	}
	return listOfProject(ctx, c, in, cursorOfName, list, func(w Workflow) string { return w.Name })
}

func (s *server) getWorkflow(ctx context.Context, _ *call, in *GetWorkflowInput) (*workflowOutput, error) {
	project, name, err := in.ids()
	if err != nil {
		return nil, err
	}
	w, err := s.service.GetWorkflow(ctx, project, name, in.Version)
	if err != nil {
		return nil, err
	}
	return &workflowOutput{ETag: revisionTag(int64(w.Newest)), Body: workflowDetailOf(w)}, nil
}

func (s *server) deleteWorkflow(ctx context.Context, c *call, in *DeleteWorkflowInput) (*nothing, error) {
	project, name, err := in.ids()
	if err != nil {
		return nil, err
	}
	newest, err := in.revision()
	if err != nil {
		return nil, err
	}
	return nil, s.service.DeleteWorkflow(ctx, c.principal, project, name, newest)
}

func (s *server) startWorkflow(ctx context.Context, c *call, in *StartWorkflowInput) (*startedWorkflowOutput, error) {
	project, name, err := in.ids()
	if err != nil {
		return nil, err
	}
	start := workflow.Start{Workflow: name, Version: in.Body.Version, Parameters: in.Body.Parameters}
	r, again, err := s.service.StartWorkflow(ctx, c.principal, project, start, c.idem)
	if err != nil {
		return nil, err
	}
	return &startedWorkflowOutput{Replayed: replayed(again), Location: "/v1/projects/" + string(in.Project) + "/workflow-runs/" + r.ID.String(), Body: runDetailOf(r)}, nil
}

func (s *server) listWorkflowRuns(ctx context.Context, c *call, in *ListWorkflowRunsInput) (*Listed[WorkflowRun], error) {
	list := func(ctx context.Context, project uuid.UUID, page functions.ListPage) ([]WorkflowRun, error) {
		rows, err := s.service.ListWorkflowRuns(ctx, project, workflow.RunFilter{Workflow: in.Workflow, State: graph.RunState(in.State)}, page)
		list := make([]WorkflowRun, len(rows))
		for i, r := range rows {
			list[i] = runOf(r)
		}
		return list, err
	}
	return listOfProject(ctx, c, &in.ListInProject, cursorOfID, list, func(r WorkflowRun) string { return r.ID.String() })
}

func (s *server) getWorkflowRun(ctx context.Context, _ *call, in *WorkflowRunPath) (*workflowRunOutput, error) {
	project, id, err := in.ids()
	if err != nil {
		return nil, err
	}
	return shownRun(s.service.GetWorkflowRun(ctx, project, id))
}

func (s *server) pauseWorkflowRun(ctx context.Context, c *call, in *WorkflowRunPath) (*workflowRunOutput, error) {
	project, id, err := in.ids()
	if err != nil {
		return nil, err
	}
	return shownRun(s.service.PauseWorkflowRun(ctx, c.principal, project, id))
}

func (s *server) resumeWorkflowRun(ctx context.Context, c *call, in *WorkflowRunPath) (*workflowRunOutput, error) {
	project, id, err := in.ids()
	if err != nil {
		return nil, err
	}
	return shownRun(s.service.ResumeWorkflowRun(ctx, c.principal, project, id))
}

func (s *server) cancelWorkflowRun(ctx context.Context, c *call, in *WorkflowRunPath) (*workflowRunOutput, error) {
	project, id, err := in.ids()
	if err != nil {
		return nil, err
	}
	return shownRun(s.service.CancelWorkflowRun(ctx, c.principal, project, id))
}

func (s *server) deleteWorkflowRun(ctx context.Context, c *call, in *WorkflowRunPath) (*nothing, error) {
	project, id, err := in.ids()
	if err != nil {
		return nil, err
	}
	return nil, s.service.DeleteWorkflowRun(ctx, c.principal, project, id)
}
