package api

import (
	"context"
	"net/http"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/wasm/precheck"
)

// PushModuleInput says what the body is.
type PushModuleInput struct {
	InProject
	Name string `query:"name" required:"true" pattern:"^[a-z][a-z0-9-]{0,62}$" doc:"The module's name, of lower-case letters, digits and hyphens; pushing again under the same name makes a new version."`
	Kind string `query:"kind" default:"aggregator" enum:"aggregator" doc:"What the module is for."`
}

// ModulePath names a module of a project.
type ModulePath struct {
	InProject
	Name string `path:"name" maxLength:"63"`
}

type pushedModuleOutput struct {
	Status   int
	Location string `header:"Location"`
	Body     functions.Module
}

type moduleOutput struct {
	Body functions.Module
}

func (s *server) moduleOperations() {
	const path = "/v1/projects/{project}/modules"
	register(s, operation{
		id: "pushModule", method: http.MethodPost, path: path, tag: "functions", summary: "Push a WASM module",
		about:  "The body is the module: a WASI preview 1 command that speaks `ostraka-wasm/1`. The same bytes under the same name are the same version: 200 instead of 201.",
		access: roles(functions.RoleOwner), status: http.StatusCreated, body: body{limit: precheck.MaxModuleBytes, stream: "application/wasm"},
		answers: alsoOK(s, functions.Module{}, "This module was pushed before, as this version."),
	}, s.pushModule)
	register(s, operation{
		id: "listModules", method: http.MethodGet, path: path, tag: "functions", summary: "List modules",
		about: "The newest version of each, by name.", access: readers(),
	}, s.listModules)
	register(s, operation{
		id: "getModule", method: http.MethodGet, path: path + "/{name}", tag: "functions", summary: "Get the newest version of a module",
		access: readers(),
	}, s.getModule)
}

func (s *server) pushModule(ctx context.Context, c *call, in *PushModuleInput) (*pushedModuleOutput, error) {
	project, err := in.id()
	if err != nil {
		return nil, err
	}
	m, created, err := s.service.PushModule(ctx, c.principal, project, in.Name, in.Kind, c.request.Body)
	if err != nil {
		return nil, streamError(err, precheck.MaxModuleBytes)
	}
	return &pushedModuleOutput{Status: createdStatus(created), Location: "/v1/projects/" + string(in.Project) + "/modules/" + m.Name, Body: m}, nil
}

func (s *server) listModules(ctx context.Context, c *call, in *ListInProject) (*Listed[functions.Module], error) {
	project, page, err := in.read(cursorOfName)
	if err != nil {
		return nil, err
	}
	items, err := s.service.ListModules(ctx, project, page)
	if err != nil {
		return nil, err
	}
	return listed(c, page, items, cursorOfName, func(m functions.Module) string { return m.Name }), nil
}

func (s *server) getModule(ctx context.Context, _ *call, in *ModulePath) (*moduleOutput, error) {
	project, err := in.id()
	if err != nil {
		return nil, err
	}
	if !isName(in.Name) {
		return nil, functions.NotFound("module", in.Name)
	}
	m, err := s.service.GetModule(ctx, project, in.Name, 0)
	if err != nil {
		return nil, err
	}
	return &moduleOutput{Body: m}, nil
}
