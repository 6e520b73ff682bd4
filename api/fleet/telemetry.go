package fleet

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/api/rest"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/fleet"
)

// Telemetry is what the API asks of the domain about how the machines of agents are.
type Telemetry interface {
	// AgentTelemetry says how an agent's machine was, and the query as it was completed.
	AgentTelemetry(ctx context.Context, id uuid.UUID, q fleet.TelemetryQuery) ([]fleet.TelemetryPoint, fleet.TelemetryQuery, error)
}

// TelemetryInput asks how an agent's machine was.
type TelemetryInput struct {
	AgentPath
	TelemetryPeriod
}

// MemberTelemetryInput asks how the machine of an agent of a project was.
type MemberTelemetryInput struct {
	MemberPath
	TelemetryPeriod
}

// TelemetryPeriod says of when, and how closely.
type TelemetryPeriod struct {
	From time.Time `query:"from" doc:"When the period begins; an hour before its end when left out."`
	To   time.Time `query:"to" doc:"When it ends; now when left out."`
	Step string    `query:"step" maxLength:"20" example:"5m" doc:"How long each point is: whole minutes within the last 24 hours, whole hours before that. Left out: one that fits."`
}

// AgentTelemetry is how an agent's machine was.
type AgentTelemetry struct {
	From        time.Time              `json:"from"`
	To          time.Time              `json:"to"`
	StepSeconds int64                  `json:"step_seconds"`
	Points      []fleet.TelemetryPoint `json:"points" doc:"Steps without a sample are left out."`
}

type telemetryOutput struct {
	Body AgentTelemetry
}

func (s *server) telemetryOperations() {
	rest.Register(s.Server, rest.Operation{
		ID: "getAgentTelemetry", Method: http.MethodGet, Path: "/v1/agents/{agent}/telemetry", Tag: "agents", Summary: "See how an agent's machine was",
		About:  "A sample a minute is kept for 24 hours, averages and maxima by the hour for 30 days.",
		Access: rest.Roles(functions.RoleOperator),
	}, s.getAgentTelemetry)
	rest.Register(s.Server, rest.Operation{
		ID: "getProjectAgentTelemetry", Method: http.MethodGet, Path: "/v1/projects/{project}/agents/{agent}/telemetry", Tag: "agents", Summary: "See how the machine of an agent of the project was",
		About:  "As operators see it: all that the machine did, for this project or not. A sample a minute is kept for 24 hours, averages and maxima by the hour for 30 days.",
		Access: rest.Readers(),
	}, s.getProjectAgentTelemetry)
}

func (s *server) getAgentTelemetry(ctx context.Context, _ *rest.Call, in *TelemetryInput) (*telemetryOutput, error) {
	id, err := rest.ReadID("agent", in.Agent)
	if err != nil {
		return nil, err
	}
	return s.telemetry(ctx, id, in.TelemetryPeriod)
}

func (s *server) getProjectAgentTelemetry(ctx context.Context, _ *rest.Call, in *MemberTelemetryInput) (*telemetryOutput, error) {
	project, agent, err := in.ids()
	if err != nil {
		return nil, err
	}
	if _, err := s.service.GetProjectAgent(ctx, project, agent); err != nil {
		return nil, err
	}
	return s.telemetry(ctx, agent, in.TelemetryPeriod)
}

func (s *server) telemetry(ctx context.Context, id uuid.UUID, in TelemetryPeriod) (_ *telemetryOutput, err error) {
	q := fleet.TelemetryQuery{From: in.From, To: in.To}
	if in.Step != "" {
		if q.Step, err = time.ParseDuration(in.Step); err != nil || q.Step <= 0 {
			return nil, functions.Invalid("bad_step", fmt.Sprintf("step %s is not a time", rest.Quoted(in.Step)), "write for example step=5m")
		}
	}
	points, q, err := s.service.AgentTelemetry(ctx, id, q)
	if err != nil {
		return nil, err
	}
	if points == nil {
		points = []fleet.TelemetryPoint{}
	}
	return &telemetryOutput{Body: AgentTelemetry{From: q.From, To: q.To, StepSeconds: int64(q.Step / time.Second), Points: points}}, nil
}
