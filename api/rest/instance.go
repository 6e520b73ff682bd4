package rest

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
)

// Instances is what the API asks of the domain about the processes that speak for an agent.
type Instances interface {
	// SpeakFor lets another process than Principal.Instance speak for an agent, or says why not.
	SpeakFor(ctx context.Context, agent, instance uuid.UUID, address string) error
}

// instanceHeader names the process that speaks for an agent: a UUID that it draws when it starts. Two machines with a copied key are
// told apart by it. Agents send it with every request; the specification names it where it matters most.
const instanceHeader = "Ostraka-Instance"

func instanceParam() *huma.Param {
	return &huma.Param{
		Name: instanceHeader, In: "header",
		Description: "Names the process that speaks for the agent: a UUID that it draws at its start. When two processes use one agent's key, one of them is answered 409 duplicate_instance.",
		Schema:      &huma.Schema{Type: huma.TypeString, Format: "uuid"},
	}
}

// speaksFor checks which process speaks for the agent. Most of the time it is the one that the look-up of the key has found.
func (s *Server) speaksFor(ctx context.Context, c *Call) error {
	text := c.Request.Header.Get(instanceHeader)
	if text == "" || c.Principal.Role != functions.RoleAgent {
		return nil
	}
	instance, err := uuid.Parse(text)
	if err != nil || instance == uuid.Nil {
		return NewProblem(http.StatusUnprocessableEntity, CodeBadInstance, "the header "+instanceHeader+" is not a UUID", "draw a random UUID when the agent starts and send it with every request")
	}
	if instance == c.Principal.Instance {
		return nil
	}
	return s.service.SpeakFor(ctx, c.Principal.Agent, instance, c.Request.RemoteAddr)
}
