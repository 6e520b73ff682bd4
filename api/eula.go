package api

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/runtime/eula"
)

// Agreements is what the API asks of the domain about what owners of machines accept.
type Agreements interface {
	EULA() eula.Document
	AcceptEULA(ctx context.Context, agent uuid.UUID, a fleet.Acceptance, address string) error
}

type eulaOutput struct {
	Body eula.Document
}

// AcceptEULAInput accepts the agreement in force.
type AcceptEULAInput struct {
	Body fleet.Acceptance
}

func (s *server) eulaOperations() {
	register(s, operation{
		id: "getEULA", method: http.MethodGet, path: "/v1/eula", tag: "agent protocol", summary: "Read the agreement in force",
		about:  "What the owner of an agent must accept before it enrols, and again when the text changes. It takes no key: it is read before there is one.",
		access: anyone,
	}, s.getEULA)
	register(s, operation{
		id: "acceptEULA", method: http.MethodPost, path: "/v1/agent/eula", tag: "agent protocol", summary: "Accept the agreement in force",
		about:  "For agents that have enrolled. Work is lent from then on.",
		access: roles(functions.RoleAgent), status: http.StatusNoContent, body: body{limit: MaxJSONBody},
	}, s.acceptEULA)
}

func (s *server) getEULA(context.Context, *call, *struct{}) (*eulaOutput, error) {
	return &eulaOutput{Body: s.service.EULA()}, nil
}

func (s *server) acceptEULA(ctx context.Context, c *call, in *AcceptEULAInput) (*nothing, error) {
	return nil, s.service.AcceptEULA(ctx, c.principal.Agent, in.Body, c.request.RemoteAddr)
}
