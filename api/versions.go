package api

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/api/rest"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/runtime/protocol"
)

// AgentVersions is what the API asks of the domain about which programs agents run.
type AgentVersions interface {
	AgentVersions(ctx context.Context, project uuid.UUID) ([]jobs.AgentVersion, error)
}

// Versions says what runs where.
type Versions struct {
	Server   string              `json:"server" doc:"The version of this server's program."`
	API      string              `json:"api" doc:"The version of the HTTP contract."`
	Protocol int                 `json:"protocol" doc:"The number of the agent protocol."`
	Portal   string              `json:"portal" doc:"Names the build of the pages that this server has; empty without pages."`
	Agents   []jobs.AgentVersion `json:"agents" doc:"The agents that were heard of in the last ten minutes: of the key's project, or, for operators, all."`
}

type versionsOutput struct {
	Body Versions
}

func (s *server) versionOperations() {
	rest.Register(s.Server, rest.Operation{
		ID: "getVersions", Method: http.MethodGet, Path: "/v1/versions", Tag: "system", Summary: "Which versions run",
		About:  "Of the server, of its pages, and of agents. A page, a server or an agent that was not updated shows here.",
		Access: rest.Roles(functions.RoleOwner, functions.RoleSubmitter, functions.RoleViewer, functions.RoleAuditor, functions.RoleReviewer, functions.RoleOperator),
	}, s.versions)
}

func (s *server) versions(ctx context.Context, c *rest.Call, _ *rest.Empty) (*versionsOutput, error) {
	agents, err := s.service.AgentVersions(ctx, c.Principal.Project)
	if err != nil {
		return nil, err
	}
	if agents == nil {
		agents = []jobs.AgentVersion{}
	}
	out := &versionsOutput{Body: Versions{Server: s.Version, API: rest.SpecVersion, Protocol: protocol.Current, Agents: agents}}
	if s.Portal != nil {
		out.Body.Portal = s.Portal.Build
	}
	return out, nil
}
