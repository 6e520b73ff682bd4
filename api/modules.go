package api

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/wasm"
	"github.com/ostraka/ostraka/wasm/precheck"
)

// Modules is what the API asks of the domain about modules.
type Modules interface {
	PushModule(ctx context.Context, by functions.Principal, project uuid.UUID, name, kind string, wasm io.Reader) (m functions.Module, created bool, err error)
	ListModules(ctx context.Context, project uuid.UUID, page functions.ListPage) ([]functions.Module, error) // newest version of each, by name
	GetModule(ctx context.Context, project uuid.UUID, name string, version int) (functions.Module, error)    // version 0: the newest
	// TryModule runs the newest version on records and keeps nothing.
	TryModule(ctx context.Context, by functions.Principal, project uuid.UUID, name string, params json.RawMessage, records io.Reader) (wasm.Report, error)
	DeprecateModule(ctx context.Context, by functions.Principal, project uuid.UUID, name string, deprecated bool, reason string) (functions.Module, error)
}

// PushModuleInput says what the body is.
type PushModuleInput struct {
	InProject
	Name string `query:"name" required:"true" pattern:"^[a-z][a-z0-9-]{0,62}$" doc:"The module's name, of lower-case letters, digits and hyphens; pushing again under the same name makes a new version."`
	Kind string `query:"kind" default:"aggregator" enum:"aggregator,heuristic,planner,validator" doc:"What the module is for."`
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

// TryModuleInput says with what to try a module. The body is the records.
type TryModuleInput struct {
	ModulePath
	Params string `query:"params" maxLength:"65536" doc:"The module's parameters, a JSON object; left out: the first example of its schema, or {}."`
}

// DeprecateModuleInput says whether a module is deprecated.
type DeprecateModuleInput struct {
	ModulePath
	Body struct {
		Deprecated bool   `json:"deprecated" doc:"False allows it again."`
		Reason     string `json:"reason,omitempty" maxLength:"1000" doc:"Why, and what to use in its place."`
	}
}

type reportOutput struct {
	Body wasm.Report
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
	register(s, operation{
		id: "tryModule", method: http.MethodPost, path: path + "/{name}/test-run", tag: "functions", summary: "Try the newest version of a module",
		about:  "The body is records, one JSON value a line, as docs/modules.md has them for each kind. The module runs on them as in a job, again, and cut in other ways; nothing is kept. What it does wrong is in the report, not in the status.",
		access: roles(functions.RoleOwner), body: body{limit: registry.MaxTrialBytes, stream: "application/x-ndjson"},
	}, s.tryModule)
	register(s, operation{
		id: "deprecateModule", method: http.MethodPost, path: path + "/{name}/deprecate", tag: "functions", summary: "Keep new jobs from using a module",
		about: "It concerns all versions that there are; jobs that use one go on.", access: roles(functions.RoleOwner), body: body{limit: MaxJSONBody},
	}, s.deprecateModule)
}

func (s *server) pushModule(ctx context.Context, c *call, in *PushModuleInput) (*pushedModuleOutput, error) {
	project, err := in.id()
	if err != nil {
		return nil, err
	}
	m, created, err := s.service.PushModule(ctx, c.principal, project, in.Name, in.Kind, c.request.Body)
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return nil, registry.ErrModuleTooLarge // which says how modules become smaller
	}
	if err != nil {
		return nil, streamError(err, precheck.MaxModuleBytes)
	}
	return &pushedModuleOutput{Status: createdStatus(created), Location: "/v1/projects/" + string(in.Project) + "/modules/" + m.Name, Body: m}, nil
}

func (s *server) listModules(ctx context.Context, c *call, in *ListInProject) (*Listed[functions.Module], error) {
	return listOfProject(ctx, c, in, cursorOfName, s.service.ListModules, func(m functions.Module) string { return m.Name })
}

func (s *server) tryModule(ctx context.Context, c *call, in *TryModuleInput) (*reportOutput, error) {
	project, err := in.id()
	if err != nil {
		return nil, err
	}
	if !isName(in.Name) {
		return nil, functions.NotFound("module", in.Name)
	}
	report, err := s.service.TryModule(ctx, c.principal, project, in.Name, json.RawMessage(in.Params), c.request.Body)
	if err != nil {
		return nil, streamError(err, registry.MaxTrialBytes)
	}
	return &reportOutput{Body: report}, nil
}

func (s *server) deprecateModule(ctx context.Context, c *call, in *DeprecateModuleInput) (*moduleOutput, error) {
	project, err := in.id()
	if err != nil {
		return nil, err
	}
	if !isName(in.Name) {
		return nil, functions.NotFound("module", in.Name)
	}
	m, err := s.service.DeprecateModule(ctx, c.principal, project, in.Name, in.Body.Deprecated, in.Body.Reason)
	if err != nil {
		return nil, err
	}
	return &moduleOutput{Body: m}, nil
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
