package fleet

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/api/rest"
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
	Agent rest.PathID `path:"agent"`
}

// MemberPath names an agent of a project.
type MemberPath struct {
	rest.InProject
	Agent rest.PathID `path:"agent"`
}

func (p MemberPath) ids() (project, agent uuid.UUID, err error) { return p.And("agent", p.Agent) }

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
	rest.Paging
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
	byOperators := rest.Roles(functions.RoleOperator)
	rest.Register(s.Server, rest.Operation{
		ID: "listAgents", Method: http.MethodGet, Path: "/v1/agents", Tag: "agents", Summary: "List all agents",
		Access: byOperators,
	}, s.listAgents)
	rest.Register(s.Server, rest.Operation{
		ID: "getAgent", Method: http.MethodGet, Path: "/v1/agents/{agent}", Tag: "agents", Summary: "Get an agent",
		Access: byOperators,
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
		rest.Register(s.Server, rest.Operation{
			ID: string(op.action) + "Agent", Method: http.MethodPost, Path: "/v1/agents/{agent}/" + string(op.action), Tag: "agents",
			Summary: op.summary, About: op.about, Access: byOperators, Body: rest.Body{Limit: rest.MaxJSONBody, Optional: true},
		}, s.decideAgent(op.action))
	}
	rest.Register(s.Server, rest.Operation{
		ID: "assignAgentOwner", Method: http.MethodPut, Path: "/v1/agents/{agent}/owner", Tag: "agents", Summary: "Say whose machine an agent is",
		About:  "It counts for all projects, before what their tokens say.",
		Access: byOperators, Body: rest.Body{Limit: rest.MaxJSONBody},
	}, s.assignOwner)
	s.memberOperations()
}

func (s *server) memberOperations() {
	const path = "/v1/projects/{project}/agents"
	rest.Register(s.Server, rest.Operation{
		ID: "listProjectAgents", Method: http.MethodGet, Path: path, Tag: "agents", Summary: "List the project's agents, with the evidence about each",
		Access: rest.Readers(),
	}, s.listProjectAgents)
	rest.Register(s.Server, rest.Operation{
		ID: "getProjectAgent", Method: http.MethodGet, Path: path + "/{agent}", Tag: "agents", Summary: "Get an agent of the project, with the evidence about it",
		Access: rest.Readers(),
	}, s.getProjectAgent)
	rest.Register(s.Server, rest.Operation{
		ID: "admitAgent", Method: http.MethodPut, Path: path + "/{agent}", Tag: "agents", Summary: "Let an agent work for the project",
		About:  "A pending agent is approved by it, as by an enrolment token; one that was excluded may work again.",
		Access: rest.Roles(functions.RoleOwner, functions.RoleOperator), Body: rest.Body{Limit: rest.MaxJSONBody, Optional: true},
	}, s.admitAgent)
	rest.Register(s.Server, rest.Operation{
		ID: "excludeAgent", Method: http.MethodPost, Path: path + "/{agent}/exclude", Tag: "agents", Summary: "End an agent's work for the project",
		About:  "Its leases of the project end, and the project's tokens do not bring it back. What it has posted stays.",
		Access: rest.Roles(functions.RoleOwner, functions.RoleOperator), Body: rest.Body{Limit: rest.MaxJSONBody, Optional: true},
	}, s.excludeAgent)
	rest.Register(s.Server, rest.Operation{
		ID: "pardonAgent", Method: http.MethodPost, Path: path + "/{agent}/pardon", Tag: "agents", Summary: "Take back what the project holds against an agent",
		About:  "One that was caught is lent work again, on probation. What was taken back from it stays so. Pardoning again is harmless.",
		Access: rest.Roles(functions.RoleOwner, functions.RoleOperator), Body: rest.Body{Limit: rest.MaxJSONBody},
	}, s.pardonAgent)
}

func (s *server) listAgents(ctx context.Context, c *rest.Call, in *ListAgentsInput) (*rest.Listed[fleet.Agent], error) {
	page, err := in.Page(rest.CursorOfID)
	if err != nil {
		return nil, err
	}
	items, err := s.service.ListAgents(ctx, fleet.AgentState(in.State), page)
	if err != nil {
		return nil, err
	}
	return rest.AnswerList(c, page, items, rest.CursorOfID, func(a fleet.Agent) string { return a.ID.String() }), nil
}

func (s *server) getAgent(ctx context.Context, _ *rest.Call, in *AgentPath) (*agentOutput, error) {
	id, err := rest.ReadID("agent", in.Agent)
	if err != nil {
		return nil, err
	}
	a, err := s.service.GetAgent(ctx, id)
	if err != nil {
		return nil, err
	}
	return &agentOutput{Body: a}, nil
}

func (s *server) decideAgent(action fleet.AgentAction) rest.Handler[DecideAgentInput, agentOutput] {
	return func(ctx context.Context, c *rest.Call, in *DecideAgentInput) (*agentOutput, error) {
		id, err := rest.ReadID("agent", in.Agent)
		if err != nil {
			return nil, err
		}
		a, err := s.service.DecideAgent(ctx, c.Principal, id, action, in.Body.text())
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

func (s *server) assignOwner(ctx context.Context, c *rest.Call, in *AssignOwnerInput) (*agentOutput, error) {
	id, err := rest.ReadID("agent", in.Agent)
	if err != nil {
		return nil, err
	}
	a, err := s.service.AssignOwner(ctx, c.Principal, id, in.Body.Owner)
	if err != nil {
		return nil, err
	}
	return &agentOutput{Body: a}, nil
}

func (s *server) listProjectAgents(ctx context.Context, c *rest.Call, in *rest.ListInProject) (*rest.Listed[fleet.ProjectAgent], error) {
	return rest.AnswerListOfProject(ctx, c, in, rest.CursorOfID, s.service.ListProjectAgents, func(a fleet.ProjectAgent) string { return a.ID.String() })
}

func (s *server) getProjectAgent(ctx context.Context, _ *rest.Call, in *MemberPath) (*memberOutput, error) {
	project, agent, err := in.ids()
	if err != nil {
		return nil, err
	}
	return member(s.service.GetProjectAgent(ctx, project, agent))
}

func (s *server) admitAgent(ctx context.Context, c *rest.Call, in *AdmitAgentInput) (*memberOutput, error) {
	project, agent, err := in.ids()
	if err != nil {
		return nil, err
	}
	var owner, reason string
	if in.Body != nil {
		owner, reason = in.Body.Owner, in.Body.Reason
	}
	return member(s.service.AdmitAgent(ctx, c.Principal, project, agent, owner, reason))
}

func (s *server) excludeAgent(ctx context.Context, c *rest.Call, in *ExcludeAgentInput) (*memberOutput, error) {
	project, agent, err := in.ids()
	if err != nil {
		return nil, err
	}
	return member(s.service.ExcludeAgent(ctx, c.Principal, project, agent, in.Body.text()))
}

func (s *server) pardonAgent(ctx context.Context, c *rest.Call, in *PardonAgentInput) (*memberOutput, error) {
	project, agent, err := in.ids()
	if err != nil {
		return nil, err
	}
	return member(s.service.PardonAgent(ctx, c.Principal, project, agent, in.Body.Reason))
}

func member(a fleet.ProjectAgent, err error) (*memberOutput, error) {
	if err != nil {
		return nil, err
	}
	return &memberOutput{Body: a}, nil
}
