package api_test

import (
	"context"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/workflow"
)

func (f *fake) ExtendWorkflowRun(context.Context, functions.Principal, uuid.UUID, uuid.UUID, string, string) (workflow.RunDetail, error) {
	return ran(), f.begin()
}

func (f *fake) RetryWorkflowRun(context.Context, functions.Principal, uuid.UUID, uuid.UUID, string) (workflow.RunDetail, error) {
	return ran(), f.begin()
}
