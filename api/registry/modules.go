package registry

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/api/rest"
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
	rest.InProject
	Name string `query:"name" required:"true" pattern:"^[a-z][a-z0-9-]{0,62}$" doc:"The module's name, of lower-case letters, digits and hyphens; pushing again under the same name makes a new version."`
	Kind string `query:"kind" default:"aggregator" enum:"aggregator,heuristic,planner,validator" doc:"What the module is for."`
}

// ModulePath names a module of a project.
type ModulePath struct {
	rest.InProject
	Name string `path:"name" maxLength:"63"`
}

// GetModuleInput names a version of a module.
type GetModuleInput struct {
	ModulePath
	Version int `query:"version" minimum:"1" maximum:"2147483647" doc:"The newest when left out."`
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
	rest.Register(s.Server, rest.Operation{
		ID: "pushModule", Method: http.MethodPost, Path: path, Tag: "functions", Summary: "Push a WASM module",
		About:  "The body is the module: a WASI preview 1 command that speaks `ostraka-wasm/1`. The same bytes under the same name are the same version: 200 instead of 201.",
		Access: rest.Roles(functions.RoleOwner), Status: http.StatusCreated, Body: rest.Body{Limit: precheck.MaxModuleBytes, Stream: "application/wasm"},
		Answers: rest.AlsoOK(s.Server, functions.Module{}, "This module was pushed before, as this version."),
	}, s.pushModule)
	rest.Register(s.Server, rest.Operation{
		ID: "listModules", Method: http.MethodGet, Path: path, Tag: "functions", Summary: "List modules",
		About: "The newest version of each, by name.", Access: rest.Readers(),
	}, s.listModules)
	rest.Register(s.Server, rest.Operation{
		ID: "getModule", Method: http.MethodGet, Path: path + "/{name}", Tag: "functions", Summary: "Get a version of a module",
		Access: rest.Readers(),
	}, s.getModule)
	rest.Register(s.Server, rest.Operation{
		ID: "tryModule", Method: http.MethodPost, Path: path + "/{name}/test-run", Tag: "functions", Summary: "Try the newest version of a module",
		About:  "The body is records, one JSON value a line, as docs/modules.md has them for each kind. The module runs on them as in a job, again, and cut in other ways; nothing is kept. What it does wrong is in the report, not in the status.",
		Access: rest.Roles(functions.RoleOwner), Body: rest.Body{Limit: registry.MaxTrialBytes, Stream: "application/x-ndjson"},
	}, s.tryModule)
	rest.Register(s.Server, rest.Operation{
		ID: "deprecateModule", Method: http.MethodPost, Path: path + "/{name}/deprecate", Tag: "functions", Summary: "Keep new jobs from using a module",
		About: "It concerns all versions that there are; jobs that use one go on.", Access: rest.Roles(functions.RoleOwner), Body: rest.Body{Limit: rest.MaxJSONBody},
	}, s.deprecateModule)
}

func (s *server) pushModule(ctx context.Context, c *rest.Call, in *PushModuleInput) (*pushedModuleOutput, error) {
	project, err := in.ID()
	if err != nil {
		return nil, err
	}
	m, created, err := s.service.PushModule(ctx, c.Principal, project, in.Name, in.Kind, c.Request.Body)
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return nil, registry.ErrModuleTooLarge // which says how modules become smaller
	}
	if err != nil {
		return nil, rest.StreamError(err, precheck.MaxModuleBytes)
	}
	return &pushedModuleOutput{Status: rest.CreatedStatus(created), Location: "/v1/projects/" + string(in.Project) + "/modules/" + m.Name, Body: m}, nil
}

func (s *server) listModules(ctx context.Context, c *rest.Call, in *rest.ListInProject) (*rest.Listed[functions.Module], error) {
	return rest.AnswerListOfProject(ctx, c, in, rest.CursorOfName, s.service.ListModules, func(m functions.Module) string { return m.Name })
}

func (s *server) tryModule(ctx context.Context, c *rest.Call, in *TryModuleInput) (*reportOutput, error) {
	project, err := in.ID()
	if err != nil {
		return nil, err
	}
	if !rest.IsName(in.Name) {
		return nil, functions.NotFound("module", in.Name)
	}
	report, err := s.service.TryModule(ctx, c.Principal, project, in.Name, json.RawMessage(in.Params), c.Request.Body)
	if err != nil {
		return nil, rest.StreamError(err, registry.MaxTrialBytes)
	}
	return &reportOutput{Body: report}, nil
}

func (s *server) deprecateModule(ctx context.Context, c *rest.Call, in *DeprecateModuleInput) (*moduleOutput, error) {
	project, err := in.ID()
	if err != nil {
		return nil, err
	}
	if !rest.IsName(in.Name) {
		return nil, functions.NotFound("module", in.Name)
	}
	m, err := s.service.DeprecateModule(ctx, c.Principal, project, in.Name, in.Body.Deprecated, in.Body.Reason)
	if err != nil {
		return nil, err
	}
	return &moduleOutput{Body: m}, nil
}

func (s *server) getModule(ctx context.Context, _ *rest.Call, in *GetModuleInput) (*moduleOutput, error) {
	project, err := in.ID()
	if err != nil {
		return nil, err
	}
	if !rest.IsName(in.Name) {
		return nil, functions.NotFound("module", in.Name)
	}
	m, err := s.service.GetModule(ctx, project, in.Name, in.Version)
	if err != nil {
		return nil, err
	}
	return &moduleOutput{Body: m}, nil
}
