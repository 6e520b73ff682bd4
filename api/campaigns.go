package api

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/workflow"
)

// Campaigns is what the API asks of the domain about runs whose steps roll.
type Campaigns interface {
	ExtendWorkflowRun(ctx context.Context, by functions.Principal, project, id uuid.UUID, step, to string) (workflow.RunDetail, error)
	RetryWorkflowRun(ctx context.Context, by functions.Principal, project, id uuid.UUID, step string) (workflow.RunDetail, error)
}

// ExtendWorkflowRunRequest says how far a rolling step is to go.
type ExtendWorkflowRunRequest struct {
	To   string `json:"to" minLength:"1" maxLength:"4096" doc:"The new end of the range, which is not in it: an integer such as 2^64+10^12."`
	Step string `json:"step,omitempty" maxLength:"63" doc:"All rolling steps of the run when left out."`
}

// RetryWorkflowRunRequest says whose holes get new jobs.
type RetryWorkflowRunRequest struct {
	Step string `json:"step,omitempty" maxLength:"63" doc:"All rolling steps of the run when left out."`
}

// ExtendWorkflowRunInput moves the end of rolling steps on.
type ExtendWorkflowRunInput struct {
	WorkflowRunPath
	Body ExtendWorkflowRunRequest
}

// RetryWorkflowRunInput has holes of rolling steps tried again.
type RetryWorkflowRunInput struct {
	WorkflowRunPath
	Body RetryWorkflowRunRequest
}

func (s *server) campaignOperations(one string) {
	register(s, operation{
		id: "extendWorkflowRun", method: http.MethodPost, path: one + "/extend", tag: "workflows", summary: "Have rolling steps of a run go further",
		about: "Their range ends later from now on. A step that has finished is not extended.", access: runners(), body: body{limit: MaxJSONBody},
	}, s.extendWorkflowRun)
	register(s, operation{
		id: "retryWorkflowRun", method: http.MethodPost, path: one + "/retry", tag: "workflows", summary: "Make jobs anew that came to nothing",
		about: "Each hole of a rolling step gets a further job.", access: runners(), body: body{limit: MaxJSONBody},
	}, s.retryWorkflowRun)
}

func (s *server) extendWorkflowRun(ctx context.Context, c *call, in *ExtendWorkflowRunInput) (*workflowRunOutput, error) {
	project, id, err := in.ids()
	if err != nil {
		return nil, err
	}
	return shownRun(s.service.ExtendWorkflowRun(ctx, c.principal, project, id, in.Body.Step, in.Body.To))
}

func (s *server) retryWorkflowRun(ctx context.Context, c *call, in *RetryWorkflowRunInput) (*workflowRunOutput, error) {
	project, id, err := in.ids()
	if err != nil {
		return nil, err
	}
	return shownRun(s.service.RetryWorkflowRun(ctx, c.principal, project, id, in.Body.Step))
}
