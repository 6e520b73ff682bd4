package fleet

import (
	"context"
	"net/http"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/api/rest"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/fleet"
)

// AgentDirectives is what the API asks of the domain about what the server wants of an agent.
type AgentDirectives interface {
	// Directives waits until what the server wants is something else than the agent knows.
	Directives(ctx context.Context, agent uuid.UUID, known string, wait time.Duration) (fleet.Directives, error)
	Confirm(ctx context.Context, agent uuid.UUID, revision string) error
}

// DirectivesInput asks what the server wants.
type DirectivesInput struct {
	rest.Waiting
	Known string `query:"known" maxLength:"32" doc:"The revision of the directives that the agent knows. With wait, the answer comes when they are others."`
}

// ConfirmPath names directives.
type ConfirmPath struct {
	Revision string `path:"revision" maxLength:"36"`
}

func (s *server) directiveOperations() {
	rest.Register(s.Server, rest.Operation{
		ID: "getDirectives", Method: http.MethodGet, Path: "/v1/agent/directives", Tag: "agent protocol", Summary: "Ask what the server wants",
		About:  "An agent always holds such a poll open, beside the one for work, so that it ends within moments what it is told to end. Heartbeats answer the same.",
		Access: rest.Roles(functions.RoleAgent),
	}, s.getDirectives)
	rest.Register(s.Server, rest.Operation{
		ID: "confirmDirectives", Method: http.MethodPost, Path: "/v1/agent/directives/{revision}/confirm", Tag: "agent protocol", Summary: "Confirm that directives are carried out",
		About:  "Nothing of what the switches hold runs any more, and its leases are returned.",
		Access: rest.Roles(functions.RoleAgent), Status: http.StatusNoContent,
	}, s.confirmDirectives)
}

func (s *server) getDirectives(ctx context.Context, c *rest.Call, in *DirectivesInput) (*directivesOutput, error) {
	wait, err := in.WaitTime(c)
	if err != nil {
		return nil, err
	}
	waiting, done := s.UntilStopping(ctx)
	defer done()
	d, err := s.service.Directives(waiting, c.Principal.Agent, in.Known, wait)
	if err != nil {
		return nil, err
	}
	return directivesAnswer(d), nil
}

func (s *server) confirmDirectives(ctx context.Context, c *rest.Call, in *ConfirmPath) (*rest.Nothing, error) {
	return nil, s.service.Confirm(ctx, c.Principal.Agent, in.Revision)
}

// directivesAnswer makes the answer; lists are never null.
func directivesAnswer(d fleet.Directives) *directivesOutput {
	if d.EndedLeases == nil {
		d.EndedLeases = []uuid.UUID{}
	}
	return &directivesOutput{Body: d}
}
