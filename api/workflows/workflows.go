package workflows

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/api/rest"
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
	rest.InProject
	Name string `path:"name" doc:"The workflow's name."`
}

func (p WorkflowPath) ids() (project uuid.UUID, name string, err error) {
	if project, err = p.ID(); err != nil {
		return project, "", err
	}
	if !rest.IsName(p.Name) {
		return project, "", functions.NotFound("workflow", p.Name)
	}
	return project, p.Name, nil
}

// PushWorkflowInput is a version of a workflow to make.
type PushWorkflowInput struct {
	rest.InProject
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
	rest.Conditional
}

// StartWorkflowInput starts a run.
type StartWorkflowInput struct {
	WorkflowPath
	Body StartWorkflowRequest
}

// ListWorkflowRunsInput asks for runs.
type ListWorkflowRunsInput struct {
	rest.ListInProject
	Workflow string `query:"workflow" maxLength:"63" doc:"Only runs of this workflow."`
	State    string `query:"state" enum:"running,paused,finished,failed,cancelled"`
}

// WorkflowRunPath names a run of a workflow.
type WorkflowRunPath struct {
	rest.InProject
	Run rest.PathID `path:"run"`
}

func (p WorkflowRunPath) ids() (project, run uuid.UUID, err error) {
	return p.And("workflow run", p.Run)
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
	rest.Replayed
	Location string `header:"Location"`
	Body     WorkflowRunDetail
}

type workflowRunOutput struct {
	Body WorkflowRunDetail
}

func (s *server) workflowOperations() {
	const path = "/v1/projects/{project}/workflows"
	const one = path + "/{name}"
	rest.Register(s.Server, rest.Operation{
		ID: "pushWorkflow", Method: http.MethodPost, Path: path, Tag: "workflows", Summary: "Push a version of a workflow",
		About:  "Its functions and modules were pushed before, and are named with their versions; its files were stored before. What is the newest version already makes none: 200 instead of 201.",
		Access: rest.Roles(functions.RoleOwner), Status: http.StatusCreated, Body: rest.Body{Limit: maxWorkflowBody},
		Answers: rest.AlsoOK(s.Server, WorkflowDetail{}, "This is the newest version already."),
	}, s.pushWorkflow)
	rest.Register(s.Server, rest.Operation{
		ID: "listWorkflows", Method: http.MethodGet, Path: path, Tag: "workflows", Summary: "List workflows", About: "The newest version of each, by name.", Access: rest.Readers(),
	}, s.listWorkflows)
	rest.Register(s.Server, rest.Operation{
		ID: "getWorkflow", Method: http.MethodGet, Path: one, Tag: "workflows", Summary: "Get a workflow",
		About: "The ETag is of the newest version.", Access: rest.Readers(),
	}, s.getWorkflow)
	rest.Register(s.Server, rest.Operation{
		ID: "deleteWorkflow", Method: http.MethodDelete, Path: one, Tag: "workflows", Summary: "Delete a workflow with its versions and runs",
		About: "One with a run that has not ended stays. Functions and jobs are not deleted.", Access: rest.Roles(functions.RoleOwner), Status: http.StatusNoContent,
	}, s.deleteWorkflow)
	rest.Register(s.Server, rest.Operation{
		ID: "startWorkflow", Method: http.MethodPost, Path: one + "/runs", Tag: "workflows", Summary: "Start a run of a workflow",
		About:  "It keeps to the version, and so to the digests of all functions and modules, whatever is pushed later.",
		Access: rest.Runners(), Status: http.StatusCreated, Body: rest.Body{Limit: maxWorkflowBody}, Retry: rest.RetryWithKey,
	}, s.startWorkflow)
	s.workflowRunOperations()
}

func (s *server) workflowRunOperations() {
	const path = "/v1/projects/{project}/workflow-runs"
	const one = path + "/{run}"
	rest.Register(s.Server, rest.Operation{
		ID: "listWorkflowRuns", Method: http.MethodGet, Path: path, Tag: "workflows", Summary: "List runs of workflows", About: "The newest first.", Access: rest.Readers(),
	}, s.listWorkflowRuns)
	rest.Register(s.Server, rest.Operation{
		ID: "getWorkflowRun", Method: http.MethodGet, Path: one, Tag: "workflows", Summary: "Get a run with its steps", Access: rest.Readers(),
	}, s.getWorkflowRun)
	rest.Register(s.Server, rest.Operation{
		ID: "pauseWorkflowRun", Method: http.MethodPost, Path: one + "/pause", Tag: "workflows", Summary: "Pause a run",
		About: "No further step begins until it is resumed. Jobs that are under way go on.", Access: rest.Runners(),
	}, s.pauseWorkflowRun)
	rest.Register(s.Server, rest.Operation{
		ID: "resumeWorkflowRun", Method: http.MethodPost, Path: one + "/resume", Tag: "workflows", Summary: "Resume a paused run", Access: rest.Runners(),
	}, s.resumeWorkflowRun)
	rest.Register(s.Server, rest.Operation{
		ID: "cancelWorkflowRun", Method: http.MethodPost, Path: one + "/cancel", Tag: "workflows", Summary: "Cancel a run and its jobs", Access: rest.Runners(), Ends: true,
	}, s.cancelWorkflowRun)
	rest.Register(s.Server, rest.Operation{
		ID: "deleteWorkflowRun", Method: http.MethodDelete, Path: one, Tag: "workflows", Summary: "Delete a run that has ended", About: "Its jobs stay.",
		Access: rest.Roles(functions.RoleOwner), Status: http.StatusNoContent,
	}, s.deleteWorkflowRun)
	s.campaignOperations(one)
}

func (s *server) pushWorkflow(ctx context.Context, c *rest.Call, in *PushWorkflowInput) (*pushedWorkflowOutput, error) {
	project, err := in.ID()
	if err != nil {
		return nil, err
	}
	w, created, err := s.service.PushWorkflow(ctx, c.Principal, project, in.Body.push())
	if err != nil {
		return nil, err
	}
	return &pushedWorkflowOutput{
		Status: rest.CreatedStatus(created), Location: "/v1/projects/" + string(in.Project) + "/workflows/" + w.Name,
		ETag: rest.RevisionTag(int64(w.Newest)), Body: workflowDetailOf(w),
	}, nil
}

func (s *server) listWorkflows(ctx context.Context, c *rest.Call, in *rest.ListInProject) (*rest.Listed[Workflow], error) {
	list := func(ctx context.Context, project uuid.UUID, page functions.ListPage) ([]Workflow, error) {
		rows, err := s.service.ListWorkflows(ctx, project, page)
		list := make([]Workflow, len(rows))
		for i, w := range rows {
			list[i] = workflowOf(w)
		}
		return list, err
	}
	return rest.AnswerListOfProject(ctx, c, in, rest.CursorOfName, list, func(w Workflow) string { return w.Name })
}

func (s *server) getWorkflow(ctx context.Context, _ *rest.Call, in *GetWorkflowInput) (*workflowOutput, error) {
	project, name, err := in.ids()
	if err != nil {
		return nil, err
	}
	w, err := s.service.GetWorkflow(ctx, project, name, in.Version)
	if err != nil {
		return nil, err
	}
	return &workflowOutput{ETag: rest.RevisionTag(int64(w.Newest)), Body: workflowDetailOf(w)}, nil
}

func (s *server) deleteWorkflow(ctx context.Context, c *rest.Call, in *DeleteWorkflowInput) (*rest.Nothing, error) {
	project, name, err := in.ids()
	if err != nil {
		return nil, err
	}
	newest, err := in.Revision()
	if err != nil {
		return nil, err
	}
	return nil, s.service.DeleteWorkflow(ctx, c.Principal, project, name, newest)
}

func (s *server) startWorkflow(ctx context.Context, c *rest.Call, in *StartWorkflowInput) (*startedWorkflowOutput, error) {
	project, name, err := in.ids()
	if err != nil {
		return nil, err
	}
	start := workflow.Start{Workflow: name, Version: in.Body.Version, Parameters: in.Body.Parameters}
	r, again, err := s.service.StartWorkflow(ctx, c.Principal, project, start, c.Idem)
	if err != nil {
		return nil, err
	}
	return &startedWorkflowOutput{Replayed: rest.ReplayedAs(again), Location: "/v1/projects/" + string(in.Project) + "/workflow-runs/" + r.ID.String(), Body: runDetailOf(r)}, nil
}

func (s *server) listWorkflowRuns(ctx context.Context, c *rest.Call, in *ListWorkflowRunsInput) (*rest.Listed[WorkflowRun], error) {
	list := func(ctx context.Context, project uuid.UUID, page functions.ListPage) ([]WorkflowRun, error) {
		rows, err := s.service.ListWorkflowRuns(ctx, project, workflow.RunFilter{Workflow: in.Workflow, State: graph.RunState(in.State)}, page)
		list := make([]WorkflowRun, len(rows))
		for i, r := range rows {
			list[i] = runOf(r)
		}
		return list, err
	}
	return rest.AnswerListOfProject(ctx, c, &in.ListInProject, rest.CursorOfID, list, func(r WorkflowRun) string { return r.ID.String() })
}

func (s *server) getWorkflowRun(ctx context.Context, _ *rest.Call, in *WorkflowRunPath) (*workflowRunOutput, error) {
	project, id, err := in.ids()
	if err != nil {
		return nil, err
	}
	return shownRun(s.service.GetWorkflowRun(ctx, project, id))
}

func (s *server) pauseWorkflowRun(ctx context.Context, c *rest.Call, in *WorkflowRunPath) (*workflowRunOutput, error) {
	project, id, err := in.ids()
	if err != nil {
		return nil, err
	}
	return shownRun(s.service.PauseWorkflowRun(ctx, c.Principal, project, id))
}

func (s *server) resumeWorkflowRun(ctx context.Context, c *rest.Call, in *WorkflowRunPath) (*workflowRunOutput, error) {
	project, id, err := in.ids()
	if err != nil {
		return nil, err
	}
	return shownRun(s.service.ResumeWorkflowRun(ctx, c.Principal, project, id))
}

func (s *server) cancelWorkflowRun(ctx context.Context, c *rest.Call, in *WorkflowRunPath) (*workflowRunOutput, error) {
	project, id, err := in.ids()
	if err != nil {
		return nil, err
	}
	return shownRun(s.service.CancelWorkflowRun(ctx, c.Principal, project, id))
}

func (s *server) deleteWorkflowRun(ctx context.Context, c *rest.Call, in *WorkflowRunPath) (*rest.Nothing, error) {
	project, id, err := in.ids()
	if err != nil {
		return nil, err
	}
	return nil, s.service.DeleteWorkflowRun(ctx, c.Principal, project, id)
}
