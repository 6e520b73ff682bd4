package api

import (
	"context"
	"net/http"
	"time"

	"github.com/google/uuid"

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
	Waiting
	Known string `query:"known" maxLength:"32" doc:"The revision of the directives that the agent knows. With wait, the answer comes when they are others."`
}

// ConfirmPath names directives.
type ConfirmPath struct {
	Revision string `path:"revision" maxLength:"36"`
}

func (s *server) directiveOperations() {
	register(s, operation{
		id: "getDirectives", method: http.MethodGet, path: "/v1/agent/directives", tag: "agent protocol", summary: "Ask what the server wants",
		about:  "An agent always holds such a poll open, beside the one for work, so that it ends within moments what it is told to end. Heartbeats answer the same.",
		access: roles(functions.RoleAgent),
	}, s.getDirectives)
	register(s, operation{
		id: "confirmDirectives", method: http.MethodPost, path: "/v1/agent/directives/{revision}/confirm", tag: "agent protocol", summary: "Confirm that directives are carried out",
		about:  "Nothing of what the switches hold runs any more, and its leases are returned.",
		access: roles(functions.RoleAgent), status: http.StatusNoContent,
	}, s.confirmDirectives)
}

func (s *server) getDirectives(ctx context.Context, c *call, in *DirectivesInput) (*directivesOutput, error) {
	wait, err := in.wait(c)
	if err != nil {
		return nil, err
	}
	waiting, done := s.untilStopping(ctx)
	defer done()
	d, err := s.service.Directives(waiting, c.principal.Agent, in.Known, wait)
	if err != nil {
		return nil, err
	}
	return directivesAnswer(d), nil
}

func (s *server) confirmDirectives(ctx context.Context, c *call, in *ConfirmPath) (*nothing, error) {
	return nil, s.service.Confirm(ctx, c.principal.Agent, in.Revision)
}

// directivesAnswer makes the answer; lists are never null.
func directivesAnswer(d fleet.Directives) *directivesOutput {
	if d.EndedLeases == nil {
		d.EndedLeases = []uuid.UUID{}
	}
	return &directivesOutput{Body: d}
}
