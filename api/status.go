package api

import (
	"context"
	"net/http"

	"github.com/ostraka/ostraka/api/rest"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/insight"
)

// Statuses is what the API asks of the domain about the whole installation.
type Statuses interface {
	InstallationStatus(ctx context.Context) (insight.InstallationStatus, error)
}

type statusOutput struct{ Body insight.InstallationStatus }

func (s *server) statusOperations() {
	rest.Register(s.Server, rest.Operation{
		ID: "getStatus", Method: http.MethodGet, Path: "/v1/status", Tag: "system", Summary: "Say how the installation is: what waits, who is ill, what it costs",
		About: "It looks into the 200 projects with the most open jobs.", Access: rest.Roles(functions.RoleOperator),
	}, s.getStatus)
}

func (s *server) getStatus(ctx context.Context, _ *rest.Call, _ *struct{}) (*statusOutput, error) {
	status, err := s.service.InstallationStatus(ctx)
	if err != nil {
		return nil, err
	}
	return &statusOutput{Body: status}, nil
}
