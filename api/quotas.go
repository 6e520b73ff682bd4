package api

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
)

// ProjectLimits is what the API asks of the domain about the limits of a project.
type ProjectLimits interface {
	ProjectQuotas(ctx context.Context, project uuid.UUID) ([]functions.Quota, error)
	SetQuotas(ctx context.Context, by functions.Principal, project uuid.UUID, values map[functions.QuotaName]*int64) ([]functions.Quota, error)
}

// Quotas are the limits of a project.
type Quotas struct {
	Quotas []functions.Quota `json:"quotas"`
}

type quotasOutput struct {
	Body Quotas
}

// SetQuotasInput sets limits of a project.
type SetQuotasInput struct {
	InProject
	Body struct {
		Limits map[functions.QuotaName]*int64 `json:"limits" doc:"By name; null gives a limit back to the server's default, 0 is no limit. What is not named stays as it is."`
	} `nameHint:"QuotaChange"`
}

func (s *server) quotaOperations() {
	const path = "/v1/projects/{project}/quotas"
	register(s, operation{
		id: "getQuotas", method: http.MethodGet, path: path, tag: "projects", summary: "Show a project's limits",
		about:  "What the project may have at a time, and what of it is used.",
		access: roles(functions.RoleOwner, functions.RoleSubmitter, functions.RoleViewer, functions.RoleOperator),
	}, s.getQuotas)
	register(s, operation{
		id: "setQuotas", method: http.MethodPatch, path: path, tag: "projects", summary: "Set a project's limits",
		about:  "What the project has stays, also where it is more than it may have from then on.",
		access: roles(functions.RoleOperator), body: body{limit: MaxJSONBody},
	}, s.setQuotas)
}

func (s *server) getQuotas(ctx context.Context, _ *call, in *InProject) (*quotasOutput, error) {
	id, err := in.id()
	if err != nil {
		return nil, err
	}
	list, err := s.service.ProjectQuotas(ctx, id)
	if err != nil {
		return nil, err
	}
	return &quotasOutput{Body: Quotas{Quotas: list}}, nil
}

func (s *server) setQuotas(ctx context.Context, c *call, in *SetQuotasInput) (*quotasOutput, error) {
	id, err := in.id()
	if err != nil {
		return nil, err
	}
	list, err := s.service.SetQuotas(ctx, c.principal, id, in.Body.Limits)
	if err != nil {
		return nil, err
	}
	return &quotasOutput{Body: Quotas{Quotas: list}}, nil
}
