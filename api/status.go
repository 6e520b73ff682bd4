package api

import (
	"context"
	"net/http"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/insight"
)

// Statuses is what the API asks of the domain about the whole installation.
type Statuses interface {
	InstallationStatus(ctx context.Context) (insight.InstallationStatus, error)
}

type statusOutput struct{ Body insight.InstallationStatus }

func (s *server) statusOperations() {
	register(s, operation{
		id: "getStatus", method: http.MethodGet, path: "/v1/status", tag: "system", summary: "Say how the installation is: what waits, who is ill, what it costs",
		about: "It looks into the 200 projects with the most open jobs.", access: roles(functions.RoleOperator),
	}, s.getStatus)
}

func (s *server) getStatus(ctx context.Context, _ *call, _ *struct{}) (*statusOutput, error) {
	status, err := s.service.InstallationStatus(ctx)
	if err != nil {
		return nil, err
	}
	return &statusOutput{Body: status}, nil
}
