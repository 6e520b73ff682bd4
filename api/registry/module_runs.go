package registry

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/api/rest"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/registry"
)

// ModuleRuns is what the API asks of the domain about the runs of modules that were kept.
type ModuleRuns interface {
	ListModuleRuns(ctx context.Context, project uuid.UUID, module string, filter registry.ModuleRunFilter, page functions.ListPage) ([]registry.ModuleRun, error) // newest first
	GetModuleRun(ctx context.Context, project uuid.UUID, module string, id uuid.UUID) (registry.ModuleRun, error)
}

// ListModuleRunsInput asks for runs of a module.
type ListModuleRunsInput struct {
	rest.ListInProject
	Name    string      `path:"name" maxLength:"63"`
	Version int         `query:"version" minimum:"1" maximum:"2147483647" doc:"Only runs of this version."`
	State   string      `query:"state" enum:"failed,ok,all" default:"all"`
	Job     rest.PathID `query:"job" doc:"Only runs for this job."`
}

// ModuleRunPath names a run of a module.
type ModuleRunPath struct {
	ModulePath
	Run rest.PathID `path:"run"`
}

type moduleRunOutput struct {
	Body registry.ModuleRun
}

func (s *server) moduleRunOperations() {
	const path = "/v1/projects/{project}/modules/{name}/runs"
	rest.Register(s.Server, rest.Operation{
		ID: "listModuleRuns", Method: http.MethodGet, Path: path, Tag: "functions", Summary: "List what a module was run for",
		About: "The newest first. A batch that failed is a run of its own; those of one phase of one aggregation that ended well are counted by one. " +
			"The newest 1000 of each module are kept.",
		Access: rest.Readers(),
	}, s.listModuleRuns)
	rest.Register(s.Server, rest.Operation{
		ID: "getModuleRun", Method: http.MethodGet, Path: path + "/{run}", Tag: "functions", Summary: "Get a run of a module",
		About: "The whole batch of one that failed is the object that `input` names.", Access: rest.Readers(),
	}, s.getModuleRun)
}

func (s *server) listModuleRuns(ctx context.Context, c *rest.Call, in *ListModuleRunsInput) (*rest.Listed[registry.ModuleRun], error) {
	project, page, err := in.Read(rest.CursorOfID)
	if err != nil {
		return nil, err
	}
	if !rest.IsName(in.Name) {
		return nil, functions.NotFound("module", in.Name)
	}
	filter := registry.ModuleRunFilter{Version: in.Version}
	if in.State != "all" {
		filter.Failed = new(in.State == "failed")
	}
	if filter.Job, err = rest.OptionalID("job", in.Job); err != nil {
		return nil, err
	}
	items, err := s.service.ListModuleRuns(ctx, project, in.Name, filter, page)
	if err != nil {
		return nil, err
	}
	return rest.AnswerList(c, page, items, rest.CursorOfID, func(r registry.ModuleRun) string { return r.ID.String() }), nil
}

func (s *server) getModuleRun(ctx context.Context, _ *rest.Call, in *ModuleRunPath) (*moduleRunOutput, error) {
	project, err := in.ID()
	if err != nil {
		return nil, err
	}
	if !rest.IsName(in.Name) {
		return nil, functions.NotFound("module", in.Name)
	}
	id, err := rest.ReadID("run", in.Run)
	if err != nil {
		return nil, err
	}
	run, err := s.service.GetModuleRun(ctx, project, in.Name, id)
	if err != nil {
		return nil, err
	}
	return &moduleRunOutput{Body: run}, nil
}
