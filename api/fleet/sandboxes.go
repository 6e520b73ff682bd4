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

// Sandboxes is what the API asks of the domain about sandboxes.
type Sandboxes interface {
	// The project of what follows is nil for operators, who see everything.
	ListSandboxes(ctx context.Context, filter fleet.SandboxFilter, page functions.ListPage) ([]fleet.Sandbox, error)
	GetSandbox(ctx context.Context, project, id uuid.UUID) (fleet.Sandbox, error)
	SandboxSamples(ctx context.Context, project, id uuid.UUID, after time.Time) ([]fleet.SandboxSample, error)
	TerminateSandbox(ctx context.Context, by functions.Principal, project, id uuid.UUID, force bool) (fleet.Sandbox, error)
}

// SandboxFilter narrows a list of sandboxes.
type SandboxFilter struct {
	Agent    rest.PathID `query:"agent" doc:"Only those of this agent."`
	Job      rest.PathID `query:"job" doc:"Only those that work on this job."`
	Function string      `query:"function" maxLength:"63" doc:"Only those that run a version of this function."`
	Running  bool        `query:"running" doc:"Only those that run."`
}

// Read turns the parameters into what the domain asks for.
func (f SandboxFilter) Read(project uuid.UUID) (fleet.SandboxFilter, error) {
	filter := fleet.SandboxFilter{Project: project, Function: f.Function, Running: f.Running}
	var err error
	if f.Agent != "" {
		if filter.Agent, err = rest.ReadID("agent", f.Agent); err != nil {
			return filter, err
		}
	}
	if f.Job != "" {
		filter.Job, err = rest.ReadID("job", f.Job)
	}
	return filter, err
}

// ListSandboxesInput asks for sandboxes of the installation.
type ListSandboxesInput struct {
	rest.Paging
	SandboxFilter
}

// ListProjectSandboxesInput asks for sandboxes of a project.
type ListProjectSandboxesInput struct {
	rest.ListInProject
	SandboxFilter
}

// SandboxPath names a sandbox.
type SandboxPath struct {
	Sandbox rest.PathID `path:"sandbox"`
}

// Read reads the IDs.
func (p SandboxPath) Read() (project, id uuid.UUID, err error) {
	id, err = rest.ReadID("sandbox", p.Sandbox)
	return uuid.Nil, id, err
}

// ProjectSandboxPath names a sandbox that works for a project.
type ProjectSandboxPath struct {
	rest.InProject
	SandboxPath
}

// Read reads the IDs.
func (p ProjectSandboxPath) Read() (project, id uuid.UUID, err error) {
	return p.And("sandbox", p.Sandbox)
}

// Since says from when on.
type Since struct {
	Since time.Time `query:"since" doc:"Only what came after this time."`
}

// SandboxSamplesInput asks what a sandbox was like.
type SandboxSamplesInput struct {
	SandboxPath
	Since
}

// ProjectSandboxSamplesInput asks what a sandbox of a project was like.
type ProjectSandboxSamplesInput struct {
	ProjectSandboxPath
	Since
}

// Termination says how to end a sandbox.
type Termination struct {
	Force bool `json:"force,omitempty" doc:"End it at once. Left out: after the shard that it runs."`
}

// TerminateSandboxInput ends a sandbox.
type TerminateSandboxInput struct {
	SandboxPath
	Body Termination
}

// TerminateProjectSandboxInput ends a sandbox of a project.
type TerminateProjectSandboxInput struct {
	ProjectSandboxPath
	Body Termination
}

type sandboxOutput struct {
	Body fleet.Sandbox
}

type samplesOutput struct {
	Body rest.List[fleet.SandboxSample]
}

func (s *server) sandboxOperations() {
	const (
		all     = "/v1/sandboxes"
		project = "/v1/projects/{project}/sandboxes"
		about   = "Sandboxes are listed as agents report them: a heartbeat names those that run, and what they are like."
		ending  = "What it has not done is lent again. Ordering it again is harmless, and force may follow."
	)
	operators := rest.Roles(functions.RoleOperator)
	rest.Register(s.Server, rest.Operation{
		ID: "listSandboxes", Method: http.MethodGet, Path: all, Tag: "agents", Summary: "List sandboxes of all agents", About: about, Access: operators,
	}, s.listSandboxes)
	rest.Register(s.Server, rest.Operation{
		ID: "getSandbox", Method: http.MethodGet, Path: all + "/{sandbox}", Tag: "agents", Summary: "Get a sandbox", Access: operators,
	}, func(ctx context.Context, _ *rest.Call, in *SandboxPath) (*sandboxOutput, error) {
		return s.getSandbox(ctx, in)
	})
	rest.Register(s.Server, rest.Operation{
		ID: "listSandboxSamples", Method: http.MethodGet, Path: all + "/{sandbox}/samples", Tag: "agents", Summary: "List what a sandbox was like", Access: operators,
	}, func(ctx context.Context, _ *rest.Call, in *SandboxSamplesInput) (*samplesOutput, error) {
		return s.sandboxSamples(ctx, in, in.Since)
	})
	rest.Register(s.Server, rest.Operation{
		ID: "terminateSandbox", Method: http.MethodPost, Path: all + "/{sandbox}/terminate", Tag: "agents", Summary: "End a sandbox", About: ending,
		Access: operators, Body: rest.Body{Limit: rest.MaxJSONBody}, Ends: true,
	}, func(ctx context.Context, c *rest.Call, in *TerminateSandboxInput) (*sandboxOutput, error) {
		return s.terminateSandbox(ctx, c, in, in.Body)
	})
	rest.Register(s.Server, rest.Operation{
		ID: "listProjectSandboxes", Method: http.MethodGet, Path: project, Tag: "agents", Summary: "List the sandboxes that work for the project", About: about, Access: rest.Readers(),
	}, s.listProjectSandboxes)
	rest.Register(s.Server, rest.Operation{
		ID: "getProjectSandbox", Method: http.MethodGet, Path: project + "/{sandbox}", Tag: "agents", Summary: "Get a sandbox that works for the project", Access: rest.Readers(),
	}, func(ctx context.Context, _ *rest.Call, in *ProjectSandboxPath) (*sandboxOutput, error) {
		return s.getSandbox(ctx, in)
	})
	rest.Register(s.Server, rest.Operation{
		ID: "listProjectSandboxSamples", Method: http.MethodGet, Path: project + "/{sandbox}/samples", Tag: "agents", Summary: "List what a sandbox of the project was like", Access: rest.Readers(),
	}, func(ctx context.Context, _ *rest.Call, in *ProjectSandboxSamplesInput) (*samplesOutput, error) {
		return s.sandboxSamples(ctx, in, in.Since)
	})
	rest.Register(s.Server, rest.Operation{
		ID: "terminateProjectSandbox", Method: http.MethodPost, Path: project + "/{sandbox}/terminate", Tag: "agents", Summary: "End a sandbox that works for the project", About: ending,
		Access: rest.Roles(functions.RoleOwner), Body: rest.Body{Limit: rest.MaxJSONBody}, Ends: true,
	}, func(ctx context.Context, c *rest.Call, in *TerminateProjectSandboxInput) (*sandboxOutput, error) {
		return s.terminateSandbox(ctx, c, in, in.Body)
	})
}

// sandboxPath names a sandbox, of a project or of any.
type sandboxPath interface {
	Read() (project, id uuid.UUID, err error)
}

func (s *server) listSandboxes(ctx context.Context, c *rest.Call, in *ListSandboxesInput) (*rest.Listed[fleet.Sandbox], error) {
	page, err := in.Page(rest.CursorOfID)
	if err != nil {
		return nil, err
	}
	return s.sandboxes(ctx, c, uuid.Nil, in.SandboxFilter, page)
}

func (s *server) listProjectSandboxes(ctx context.Context, c *rest.Call, in *ListProjectSandboxesInput) (*rest.Listed[fleet.Sandbox], error) {
	project, page, err := in.ListInProject.Read(rest.CursorOfID)
	if err != nil {
		return nil, err
	}
	return s.sandboxes(ctx, c, project, in.SandboxFilter, page)
}

func (s *server) sandboxes(ctx context.Context, c *rest.Call, project uuid.UUID, narrow SandboxFilter, page functions.ListPage) (*rest.Listed[fleet.Sandbox], error) {
	filter, err := narrow.Read(project)
	if err != nil {
		return nil, err
	}
	items, err := s.service.ListSandboxes(ctx, filter, page)
	if err != nil {
		return nil, err
	}
	return rest.AnswerList(c, page, items, rest.CursorOfID, func(b fleet.Sandbox) string { return b.ID.String() }), nil
}

func (s *server) getSandbox(ctx context.Context, in sandboxPath) (*sandboxOutput, error) {
	project, id, err := in.Read()
	if err != nil {
		return nil, err
	}
	b, err := s.service.GetSandbox(ctx, project, id)
	if err != nil {
		return nil, err
	}
	return &sandboxOutput{Body: b}, nil
}

func (s *server) sandboxSamples(ctx context.Context, in sandboxPath, since Since) (*samplesOutput, error) {
	project, id, err := in.Read()
	if err != nil {
		return nil, err
	}
	items, err := s.service.SandboxSamples(ctx, project, id, since.Since)
	if err != nil {
		return nil, err
	}
	if items == nil {
		items = []fleet.SandboxSample{}
	}
	return &samplesOutput{Body: rest.List[fleet.SandboxSample]{Items: items}}, nil
}

func (s *server) terminateSandbox(ctx context.Context, c *rest.Call, in sandboxPath, how Termination) (*sandboxOutput, error) {
	project, id, err := in.Read()
	if err != nil {
		return nil, err
	}
	b, err := s.service.TerminateSandbox(ctx, c.Principal, project, id, how.Force)
	if err != nil {
		return nil, err
	}
	return &sandboxOutput{Body: b}, nil
}
