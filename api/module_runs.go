package api

import (
	"context"
	"net/http"

	"github.com/google/uuid"

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
	ListInProject
	Name    string `path:"name" maxLength:"63"`
	Version int    `query:"version" minimum:"1" maximum:"2147483647" doc:"Only runs of this version."`
	State   string `query:"state" enum:"failed,ok,all" default:"all"`
	Job     PathID `query:"job" doc:"Only runs for this job."`
}

// ModuleRunPath names a run of a module.
type ModuleRunPath struct {
	ModulePath
	Run PathID `path:"run"`
}

type moduleRunOutput struct {
	Body registry.ModuleRun
}

func (s *server) moduleRunOperations() {
	const path = "/v1/projects/{project}/modules/{name}/runs"
	register(s, operation{
		id: "listModuleRuns", method: http.MethodGet, path: path, tag: "functions", summary: "List what a module was run for",
		about: "The newest first. A batch that failed is a run of its own; those of one phase of one aggregation that ended well are counted by one. " +
			"The newest 1000 of each module are kept.",
		access: readers(),
	}, s.listModuleRuns)
	register(s, operation{
		id: "getModuleRun", method: http.MethodGet, path: path + "/{run}", tag: "functions", summary: "Get a run of a module",
		about: "The whole batch of one that failed is the object that `input` names.", access: readers(),
	}, s.getModuleRun)
}

func (s *server) listModuleRuns(ctx context.Context, c *call, in *ListModuleRunsInput) (*Listed[registry.ModuleRun], error) {
	project, page, err := in.read(cursorOfID)
	if err != nil {
		return nil, err
	}
	if !isName(in.Name) {
		return nil, functions.NotFound("module", in.Name)
	}
	filter := registry.ModuleRunFilter{Version: in.Version}
	if in.State != "all" {
		filter.Failed = new(in.State == "failed")
	}
	if filter.Job, err = optionalID("job", in.Job); err != nil {
		return nil, err
	}
	items, err := s.service.ListModuleRuns(ctx, project, in.Name, filter, page)
	if err != nil {
		return nil, err
	}
	return listed(c, page, items, cursorOfID, func(r registry.ModuleRun) string { return r.ID.String() }), nil
}

func (s *server) getModuleRun(ctx context.Context, _ *call, in *ModuleRunPath) (*moduleRunOutput, error) {
	project, err := in.id()
	if err != nil {
		return nil, err
	}
	if !isName(in.Name) {
		return nil, functions.NotFound("module", in.Name)
	}
	id, err := pathID("run", in.Run)
	if err != nil {
		return nil, err
	}
	run, err := s.service.GetModuleRun(ctx, project, in.Name, id)
	if err != nil {
		return nil, err
	}
	return &moduleRunOutput{Body: run}, nil
}
