package api

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/fleet"
)

// Agents is what the API asks of the domain about agents, of a project and of all.
type Agents interface {
	ListProjectAgents(ctx context.Context, project uuid.UUID, page functions.ListPage) ([]fleet.ProjectAgent, error)
	GetProjectAgent(ctx context.Context, project, id uuid.UUID) (fleet.ProjectAgent, error)
	AdmitAgent(ctx context.Context, by functions.Principal, project, id uuid.UUID, owner, reason string) (fleet.ProjectAgent, error)
	PardonAgent(ctx context.Context, by functions.Principal, project, id uuid.UUID, reason string) (fleet.ProjectAgent, error)
	ExcludeAgent(ctx context.Context, by functions.Principal, project, id uuid.UUID, reason string) (fleet.ProjectAgent, error)
	ListAgents(ctx context.Context, state fleet.AgentState, page functions.ListPage) ([]fleet.Agent, error) // state "": all
	GetAgent(ctx context.Context, id uuid.UUID) (fleet.Agent, error)
	DecideAgent(ctx context.Context, by functions.Principal, id uuid.UUID, action fleet.AgentAction, reason string) (fleet.Agent, error)
	AssignOwner(ctx context.Context, by functions.Principal, id uuid.UUID, owner string) (fleet.Agent, error)
}

// AgentPath names an agent.
type AgentPath struct {
	Agent PathID `path:"agent"`
}

// MemberPath names an agent of a project.
type MemberPath struct {
	InProject
	Agent PathID `path:"agent"`
}

func (p MemberPath) ids() (project, agent uuid.UUID, err error) { return p.and("agent", p.Agent) }

// AgentDecision is why something is decided about an agent.
type AgentDecision struct {
	Reason string `json:"reason,omitempty" maxLength:"300" doc:"Why: the agent's owner and the audit log see it."`
}

// DecideAgentInput decides about an agent.
type DecideAgentInput struct {
	AgentPath
	Body *AgentDecision
}

// ListAgentsInput asks for agents.
type ListAgentsInput struct {
	Paging
	State string `query:"state" enum:"pending,active,draining,quarantined,revoked" doc:"Only agents in this state."`
}

// AssignOwnerInput says whose machine an agent is.
type AssignOwnerInput struct {
	AgentPath
	Body struct {
		Owner string `json:"owner" minLength:"1" maxLength:"200" example:"chemistry department"`
	} `nameHint:"AgentOwner"`
}

// AdmitAgentInput lets an agent work for a project.
type AdmitAgentInput struct {
	MemberPath
	Body *struct {
		Owner  string `json:"owner,omitempty" maxLength:"200" doc:"Whose machine it is for this project. Left out: what was said before."`
		Reason string `json:"reason,omitempty" maxLength:"300" doc:"Why: the agent's owner and the audit log see it."`
	} `nameHint:"Admission"`
}

// ExcludeAgentInput ends an agent's work for a project.
type ExcludeAgentInput struct {
	MemberPath
	Body *AgentDecision
}

// PardonAgentInput takes back what a project holds against an agent.
type PardonAgentInput struct {
	MemberPath
	Body struct {
		Reason string `json:"reason" minLength:"1" maxLength:"2000" doc:"Why: the audit log keeps it." example:"its memory was replaced"`
	} `nameHint:"Pardon"`
}

type agentOutput struct {
	Body fleet.Agent
}

type memberOutput struct {
	Body fleet.ProjectAgent
}

func (s *server) agentOperations() {
	byOperators := roles(functions.RoleOperator)
	register(s, operation{
		id: "listAgents", method: http.MethodGet, path: "/v1/agents", tag: "agents", summary: "List all agents",
		access: byOperators,
	}, s.listAgents)
	register(s, operation{
		id: "getAgent", method: http.MethodGet, path: "/v1/agents/{agent}", tag: "agents", summary: "Get an agent",
		access: byOperators,
	}, s.getAgent)
	for _, op := range []struct {
		action         fleet.AgentAction
		summary, about string
	}{
		{fleet.ApproveAgent, "Approve a pending agent", "It may work for projects that are open to all agents or admit it."},
		{fleet.DrainAgent, "Drain an agent", "It finishes what it was lent and gets nothing more."},
		{fleet.ResumeAgent, "Resume a drained or quarantined agent", ""},
		{fleet.QuarantineAgent, "Quarantine an agent", "It gets nothing more and its leases end. What it has posted before is weighed like everybody's; what it posts from now on is refused."},
		{fleet.RevokeAgent, "Revoke an agent", "Its keys stop working at once, in polls that are open too, and its leases end. This is final."},
	} {
		register(s, operation{
			id: string(op.action) + "Agent", method: http.MethodPost, path: "/v1/agents/{agent}/" + string(op.action), tag: "agents",
			summary: op.summary, about: op.about, access: byOperators, body: body{limit: MaxJSONBody, optional: true},
		}, s.decideAgent(op.action))
	}
	register(s, operation{
		id: "assignAgentOwner", method: http.MethodPut, path: "/v1/agents/{agent}/owner", tag: "agents", summary: "Say whose machine an agent is",
		about:  "It counts for all projects, before what their tokens say.",
		access: byOperators, body: body{limit: MaxJSONBody},
	}, s.assignOwner)
	s.memberOperations()
}

func (s *server) memberOperations() {
	const path = "/v1/projects/{project}/agents"
	register(s, operation{
		id: "listProjectAgents", method: http.MethodGet, path: path, tag: "agents", summary: "List the project's agents, with the evidence about each",
		access: readers(),
	}, s.listProjectAgents)
	register(s, operation{
		id: "getProjectAgent", method: http.MethodGet, path: path + "/{agent}", tag: "agents", summary: "Get an agent of the project, with the evidence about it",
		access: readers(),
	}, s.getProjectAgent)
	register(s, operation{
		id: "admitAgent", method: http.MethodPut, path: path + "/{agent}", tag: "agents", summary: "Let an agent work for the project",
		about:  "A pending agent is approved by it, as by an enrolment token; one that was excluded may work again.",
		access: roles(functions.RoleOwner, functions.RoleOperator), body: body{limit: MaxJSONBody, optional: true},
	}, s.admitAgent)
	register(s, operation{
		id: "excludeAgent", method: http.MethodPost, path: path + "/{agent}/exclude", tag: "agents", summary: "End an agent's work for the project",
		about:  "Its leases of the project end, and the project's tokens do not bring it back. What it has posted stays.",
		access: roles(functions.RoleOwner, functions.RoleOperator), body: body{limit: MaxJSONBody, optional: true},
	}, s.excludeAgent)
	register(s, operation{
		id: "pardonAgent", method: http.MethodPost, path: path + "/{agent}/pardon", tag: "agents", summary: "Take back what the project holds against an agent",
		about:  "One that was caught is lent work again, on probation. What was taken back from it stays so. Pardoning again is harmless.",
		access: roles(functions.RoleOwner, functions.RoleOperator), body: body{limit: MaxJSONBody},
	}, s.pardonAgent)
}

func (s *server) listAgents(ctx context.Context, c *call, in *ListAgentsInput) (*Listed[fleet.Agent], error) {
	page, err := in.page(cursorOfID)
	if err != nil {
		return nil, err
	}
	items, err := s.service.ListAgents(ctx, fleet.AgentState(in.State), page)
	if err != nil {
		return nil, err
	}
	return listed(c, page, items, cursorOfID, func(a fleet.Agent) string { return a.ID.String() }), nil
}

func (s *server) getAgent(ctx context.Context, _ *call, in *AgentPath) (*agentOutput, error) {
	id, err := pathID("agent", in.Agent)
	if err != nil {
		return nil, err
	}
	a, err := s.service.GetAgent(ctx, id)
	if err != nil {
		return nil, err
	}
	return &agentOutput{Body: a}, nil
}

func (s *server) decideAgent(action fleet.AgentAction) handler[DecideAgentInput, agentOutput] {
	return func(ctx context.Context, c *call, in *DecideAgentInput) (*agentOutput, error) {
		id, err := pathID("agent", in.Agent)
		if err != nil {
			return nil, err
		}
		a, err := s.service.DecideAgent(ctx, c.principal, id, action, in.Body.text())
		if err != nil {
			return nil, err
		}
		return &agentOutput{Body: a}, nil
	}
}

func (r *AgentDecision) text() string {
	if r == nil {
		return ""
	}
	return r.Reason
}

func (s *server) assignOwner(ctx context.Context, c *call, in *AssignOwnerInput) (*agentOutput, error) {
	id, err := pathID("agent", in.Agent)
	if err != nil {
		return nil, err
	}
	a, err := s.service.AssignOwner(ctx, c.principal, id, in.Body.Owner)
	if err != nil {
		return nil, err
	}
	return &agentOutput{Body: a}, nil
}

func (s *server) listProjectAgents(ctx context.Context, c *call, in *ListInProject) (*Listed[fleet.ProjectAgent], error) {
	return listOfProject(ctx, c, in, cursorOfID, s.service.ListProjectAgents, func(a fleet.ProjectAgent) string { return a.ID.String() })
}

func (s *server) getProjectAgent(ctx context.Context, _ *call, in *MemberPath) (*memberOutput, error) {
	project, agent, err := in.ids()
	if err != nil {
		return nil, err
	}
	return member(s.service.GetProjectAgent(ctx, project, agent))
}

func (s *server) admitAgent(ctx context.Context, c *call, in *AdmitAgentInput) (*memberOutput, error) {
	project, agent, err := in.ids()
	if err != nil {
		return nil, err
	}
	var owner, reason string
	if in.Body != nil {
		owner, reason = in.Body.Owner, in.Body.Reason
	}
	return member(s.service.AdmitAgent(ctx, c.principal, project, agent, owner, reason))
}

func (s *server) excludeAgent(ctx context.Context, c *call, in *ExcludeAgentInput) (*memberOutput, error) {
	project, agent, err := in.ids()
	if err != nil {
		return nil, err
	}
	return member(s.service.ExcludeAgent(ctx, c.principal, project, agent, in.Body.text()))
}

func (s *server) pardonAgent(ctx context.Context, c *call, in *PardonAgentInput) (*memberOutput, error) {
	project, agent, err := in.ids()
	if err != nil {
		return nil, err
	}
	return member(s.service.PardonAgent(ctx, c.principal, project, agent, in.Body.Reason))
}

func member(a fleet.ProjectAgent, err error) (*memberOutput, error) {
	if err != nil {
		return nil, err
	}
	return &memberOutput{Body: a}, nil
}
