package api

import (
	"context"
	"net/http"

	"github.com/ostraka/ostraka/functions"
)

// AgentPath names an agent.
type AgentPath struct {
	Agent PathID `path:"agent"`
}

type agentOutput struct {
	Body functions.Agent
}

func (s *server) agentOperations() {
	register(s, operation{
		id: "listAgents", method: http.MethodGet, path: "/v1/agents", tag: "agents", summary: "List all agents",
		access: roles(functions.RoleOperator),
	}, s.listAgents)
	register(s, operation{
		id: "revokeAgent", method: http.MethodPost, path: "/v1/agents/{agent}/revoke", tag: "agents", summary: "Revoke an agent",
		about:  "Its keys stop working and its leases end.",
		access: roles(functions.RoleOperator),
	}, s.revokeAgent)
	register(s, operation{
		id: "listProjectAgents", method: http.MethodGet, path: "/v1/projects/{project}/agents", tag: "agents", summary: "List the project's agents, with the evidence about each",
		access: readers(),
	}, s.listProjectAgents)
}

func (s *server) listAgents(ctx context.Context, c *call, in *Paging) (*Listed[functions.Agent], error) {
	page, err := in.page(cursorOfID)
	if err != nil {
		return nil, err
	}
	items, err := s.service.ListAgents(ctx, page)
	if err != nil {
		return nil, err
	}
	return listed(c, page, items, cursorOfID, func(a functions.Agent) string { return a.ID.String() }), nil
}

func (s *server) revokeAgent(ctx context.Context, c *call, in *AgentPath) (*agentOutput, error) {
	id, err := pathID("agent", in.Agent)
	if err != nil {
		return nil, err
	}
	a, err := s.service.RevokeAgent(ctx, c.principal, id)
	if err != nil {
		return nil, err
	}
	return &agentOutput{Body: a}, nil
}

func (s *server) listProjectAgents(ctx context.Context, c *call, in *ListInProject) (*Listed[functions.ProjectAgent], error) {
	project, page, err := in.read(cursorOfID)
	if err != nil {
		return nil, err
	}
	items, err := s.service.ListProjectAgents(ctx, project, page)
	if err != nil {
		return nil, err
	}
	return listed(c, page, items, cursorOfID, func(a functions.ProjectAgent) string { return a.ID.String() }), nil
}
