package api

import (
	"context"
	"net/http"
	"time"

	"github.com/google/uuid"

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
	Agent    PathID `query:"agent" doc:"Only those of this agent."`
	Job      PathID `query:"job" doc:"Only those that work on this job."`
	Function string `query:"function" maxLength:"63" doc:"Only those that run a version of this function."`
	Running  bool   `query:"running" doc:"Only those that run."`
}

func (f SandboxFilter) read(project uuid.UUID) (fleet.SandboxFilter, error) {
	filter := fleet.SandboxFilter{Project: project, Function: f.Function, Running: f.Running}
	var err error
	if f.Agent != "" {
		if filter.Agent, err = pathID("agent", f.Agent); err != nil {
			return filter, err
		}
	}
	if f.Job != "" {
		filter.Job, err = pathID("job", f.Job)
	}
	return filter, err
}

// ListSandboxesInput asks for sandboxes of the installation.
type ListSandboxesInput struct {
	Paging
	SandboxFilter
}

// ListProjectSandboxesInput asks for sandboxes of a project.
type ListProjectSandboxesInput struct {
	ListInProject
	SandboxFilter
}

// SandboxPath names a sandbox.
type SandboxPath struct {
	Sandbox PathID `path:"sandbox"`
}

func (p SandboxPath) read() (project, id uuid.UUID, err error) {
	id, err = pathID("sandbox", p.Sandbox)
	return uuid.Nil, id, err
}

// ProjectSandboxPath names a sandbox that works for a project.
type ProjectSandboxPath struct {
	InProject
	SandboxPath
}

func (p ProjectSandboxPath) read() (project, id uuid.UUID, err error) {
	return p.and("sandbox", p.Sandbox)
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
	Body List[fleet.SandboxSample]
}

func (s *server) sandboxOperations() {
	const (
		all     = "/v1/sandboxes"
		project = "/v1/projects/{project}/sandboxes"
		about   = "Sandboxes are listed as agents report them: a heartbeat names those that run, and what they are like."
		ending  = "What it has not done is lent again. Ordering it again is harmless, and force may follow."
	)
	operators := roles(functions.RoleOperator)
	register(s, operation{
		id: "listSandboxes", method: http.MethodGet, path: all, tag: "agents", summary: "List sandboxes of all agents", about: about, access: operators,
	}, s.listSandboxes)
	register(s, operation{
		id: "getSandbox", method: http.MethodGet, path: all + "/{sandbox}", tag: "agents", summary: "Get a sandbox", access: operators,
	}, func(ctx context.Context, _ *call, in *SandboxPath) (*sandboxOutput, error) {
		return s.getSandbox(ctx, in)
	})
	register(s, operation{
		id: "listSandboxSamples", method: http.MethodGet, path: all + "/{sandbox}/samples", tag: "agents", summary: "List what a sandbox was like", access: operators,
	}, func(ctx context.Context, _ *call, in *SandboxSamplesInput) (*samplesOutput, error) {
		return s.sandboxSamples(ctx, in, in.Since)
	})
	register(s, operation{
		id: "terminateSandbox", method: http.MethodPost, path: all + "/{sandbox}/terminate", tag: "agents", summary: "End a sandbox", about: ending,
		access: operators, body: body{limit: MaxJSONBody},
	}, func(ctx context.Context, c *call, in *TerminateSandboxInput) (*sandboxOutput, error) {
		return s.terminateSandbox(ctx, c, in, in.Body)
	})
	register(s, operation{
		id: "listProjectSandboxes", method: http.MethodGet, path: project, tag: "agents", summary: "List the sandboxes that work for the project", about: about, access: readers(),
	}, s.listProjectSandboxes)
	register(s, operation{
		id: "getProjectSandbox", method: http.MethodGet, path: project + "/{sandbox}", tag: "agents", summary: "Get a sandbox that works for the project", access: readers(),
	}, func(ctx context.Context, _ *call, in *ProjectSandboxPath) (*sandboxOutput, error) {
		return s.getSandbox(ctx, in)
	})
	register(s, operation{
		id: "listProjectSandboxSamples", method: http.MethodGet, path: project + "/{sandbox}/samples", tag: "agents", summary: "List what a sandbox of the project was like", access: readers(),
	}, func(ctx context.Context, _ *call, in *ProjectSandboxSamplesInput) (*samplesOutput, error) {
		return s.sandboxSamples(ctx, in, in.Since)
	})
	register(s, operation{
		id: "terminateProjectSandbox", method: http.MethodPost, path: project + "/{sandbox}/terminate", tag: "agents", summary: "End a sandbox that works for the project", about: ending,
		access: roles(functions.RoleOwner), body: body{limit: MaxJSONBody},
	}, func(ctx context.Context, c *call, in *TerminateProjectSandboxInput) (*sandboxOutput, error) {
		return s.terminateSandbox(ctx, c, in, in.Body)
	})
}

// sandboxPath names a sandbox, of a project or of any.
type sandboxPath interface {
	read() (project, id uuid.UUID, err error)
}

func (s *server) listSandboxes(ctx context.Context, c *call, in *ListSandboxesInput) (*Listed[fleet.Sandbox], error) {
	page, err := in.page(cursorOfID)
	if err != nil {
		return nil, err
	}
	return s.sandboxes(ctx, c, uuid.Nil, in.SandboxFilter, page)
}

func (s *server) listProjectSandboxes(ctx context.Context, c *call, in *ListProjectSandboxesInput) (*Listed[fleet.Sandbox], error) {
	project, page, err := in.ListInProject.read(cursorOfID)
	if err != nil {
		return nil, err
	}
	return s.sandboxes(ctx, c, project, in.SandboxFilter, page)
}

func (s *server) sandboxes(ctx context.Context, c *call, project uuid.UUID, narrow SandboxFilter, page functions.ListPage) (*Listed[fleet.Sandbox], error) {
	filter, err := narrow.read(project)
	if err != nil {
		return nil, err
	}
	items, err := s.service.ListSandboxes(ctx, filter, page)
	if err != nil {
		return nil, err
	}
	return listed(c, page, items, cursorOfID, func(b fleet.Sandbox) string { return b.ID.String() }), nil
}

func (s *server) getSandbox(ctx context.Context, in sandboxPath) (*sandboxOutput, error) {
	project, id, err := in.read()
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
	project, id, err := in.read()
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
	return &samplesOutput{Body: List[fleet.SandboxSample]{Items: items}}, nil
}

func (s *server) terminateSandbox(ctx context.Context, c *call, in sandboxPath, how Termination) (*sandboxOutput, error) {
	project, id, err := in.read()
	if err != nil {
		return nil, err
	}
	b, err := s.service.TerminateSandbox(ctx, c.principal, project, id, how.Force)
	if err != nil {
		return nil, err
	}
	return &sandboxOutput{Body: b}, nil
}
