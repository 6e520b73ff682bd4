package tenant

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/api/rest"
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
	rest.InProject
	Body struct {
		Limits map[functions.QuotaName]*int64 `json:"limits" doc:"By name; null gives a limit back to the server's default, 0 is no limit. What is not named stays as it is."`
	} `nameHint:"QuotaChange"`
}

func (s *server) quotaOperations() {
	const path = "/v1/projects/{project}/quotas"
	rest.Register(s.Server, rest.Operation{
		ID: "getQuotas", Method: http.MethodGet, Path: path, Tag: "projects", Summary: "Show a project's limits",
		About:  "What the project may have at a time, and what of it is used.",
		Access: rest.Roles(functions.RoleOwner, functions.RoleSubmitter, functions.RoleViewer, functions.RoleOperator),
	}, s.getQuotas)
	rest.Register(s.Server, rest.Operation{
		ID: "setQuotas", Method: http.MethodPatch, Path: path, Tag: "projects", Summary: "Set a project's limits",
		About:  "What the project has stays, also where it is more than it may have from then on.",
		Access: rest.Roles(functions.RoleOperator), Body: rest.Body{Limit: rest.MaxJSONBody},
	}, s.setQuotas)
}

func (s *server) getQuotas(ctx context.Context, _ *rest.Call, in *rest.InProject) (*quotasOutput, error) {
	id, err := in.ID()
	if err != nil {
		return nil, err
	}
	list, err := s.service.ProjectQuotas(ctx, id)
	if err != nil {
		return nil, err
	}
	return &quotasOutput{Body: Quotas{Quotas: list}}, nil
}

func (s *server) setQuotas(ctx context.Context, c *rest.Call, in *SetQuotasInput) (*quotasOutput, error) {
	id, err := in.ID()
	if err != nil {
		return nil, err
	}
	list, err := s.service.SetQuotas(ctx, c.Principal, id, in.Body.Limits)
	if err != nil {
		return nil, err
	}
	return &quotasOutput{Body: Quotas{Quotas: list}}, nil
}
