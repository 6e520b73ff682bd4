package fleet

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/api/rest"
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
	rest.Register(s.Server, rest.Operation{
		ID: "getEULA", Method: http.MethodGet, Path: "/v1/eula", Tag: "agent protocol", Summary: "Read the agreement in force",
		About:  "What the owner of an agent must accept before it enrols, and again when the text changes. It takes no key: it is read before there is one.",
		Access: rest.Anyone,
	}, s.getEULA)
	rest.Register(s.Server, rest.Operation{
		ID: "acceptEULA", Method: http.MethodPost, Path: "/v1/agent/eula", Tag: "agent protocol", Summary: "Accept the agreement in force",
		About:  "For agents that have enrolled. Work is lent from then on.",
		Access: rest.Roles(functions.RoleAgent), Status: http.StatusNoContent, Body: rest.Body{Limit: rest.MaxJSONBody},
	}, s.acceptEULA)
}

func (s *server) getEULA(context.Context, *rest.Call, *struct{}) (*eulaOutput, error) {
	return &eulaOutput{Body: s.service.EULA()}, nil
}

func (s *server) acceptEULA(ctx context.Context, c *rest.Call, in *AcceptEULAInput) (*rest.Nothing, error) {
	return nil, s.service.AcceptEULA(ctx, c.Principal.Agent, in.Body, c.Request.RemoteAddr)
}
