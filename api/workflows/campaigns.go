package workflows

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/api/rest"
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
	rest.Register(s.Server, rest.Operation{
		ID: "extendWorkflowRun", Method: http.MethodPost, Path: one + "/extend", Tag: "workflows", Summary: "Have rolling steps of a run go further",
		About: "Their range ends later from now on. A step that has finished is not extended.", Access: rest.Runners(), Body: rest.Body{Limit: rest.MaxJSONBody},
	}, s.extendWorkflowRun)
	rest.Register(s.Server, rest.Operation{
		ID: "retryWorkflowRun", Method: http.MethodPost, Path: one + "/retry", Tag: "workflows", Summary: "Make jobs anew that came to nothing",
		About: "Each hole of a rolling step gets a further job.", Access: rest.Runners(), Body: rest.Body{Limit: rest.MaxJSONBody},
	}, s.retryWorkflowRun)
}

func (s *server) extendWorkflowRun(ctx context.Context, c *rest.Call, in *ExtendWorkflowRunInput) (*workflowRunOutput, error) {
	project, id, err := in.ids()
	if err != nil {
		return nil, err
	}
	return shownRun(s.service.ExtendWorkflowRun(ctx, c.Principal, project, id, in.Body.Step, in.Body.To))
}

func (s *server) retryWorkflowRun(ctx context.Context, c *rest.Call, in *RetryWorkflowRunInput) (*workflowRunOutput, error) {
	project, id, err := in.ids()
	if err != nil {
		return nil, err
	}
	return shownRun(s.service.RetryWorkflowRun(ctx, c.Principal, project, id, in.Body.Step))
}
