package api_test

import (
	"context"
	"encoding/json"
	"io"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/heuristics"
	"github.com/ostraka/ostraka/functions/planner"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/functions/submit"
	"github.com/ostraka/ostraka/wasm"
)

func (f *fake) PushFunction(_ context.Context, _ functions.Principal, _ uuid.UUID, r io.Reader, signature []byte) (functions.FunctionVersion, bool, error) {
	f.signature = signature
	err := f.store(r)
	return functions.FunctionVersion{Name: "bpsw", Version: 2, CreatedAt: when}, !f.replayed, err
}

func (f *fake) ListFunctions(_ context.Context, _ uuid.UUID, page functions.ListPage) ([]functions.FunctionVersion, error) {
	return list(f, page, func(int) functions.FunctionVersion { return functions.FunctionVersion{Name: "bpsw", Version: 2} })
}

func (f *fake) GetFunction(_ context.Context, _ uuid.UUID, name string, version int) (functions.FunctionVersion, error) {
	return functions.FunctionVersion{Name: name, Version: max(version, 1)}, f.begin()
}

func (f *fake) ListFunctionVersions(_ context.Context, _ uuid.UUID, name string, page functions.ListPage) ([]functions.FunctionVersion, error) {
	return list(f, page, func(i int) functions.FunctionVersion { return functions.FunctionVersion{Name: name, Version: i + 1} })
}

func (f *fake) TryModule(_ context.Context, _ functions.Principal, _ uuid.UUID, _ string, _ json.RawMessage, records io.Reader) (wasm.Report, error) {
	return wasm.Report{Output: []string{}, Findings: []wasm.Finding{}}, f.store(records)
}

func (f *fake) DeprecateModule(_ context.Context, _ functions.Principal, _ uuid.UUID, name string, _ bool, reason string) (functions.Module, error) {
	return functions.Module{Name: name, Deprecation: reason}, f.begin()
}

func (f *fake) PushModule(_ context.Context, _ functions.Principal, _ uuid.UUID, name, kind string, r io.Reader) (functions.Module, bool, error) {
	err := f.store(r)
	return functions.Module{ID: thingID, Name: name, Kind: kind, Version: 1}, !f.replayed, err
}

func (f *fake) ListModules(_ context.Context, _ uuid.UUID, page functions.ListPage) ([]functions.Module, error) {
	return list(f, page, func(int) functions.Module { return functions.Module{Name: "fold"} })
}

func (f *fake) ListModuleRuns(_ context.Context, _ uuid.UUID, module string, _ registry.ModuleRunFilter, page functions.ListPage) ([]registry.ModuleRun, error) {
	return list(f, page, func(int) registry.ModuleRun { return registry.ModuleRun{ID: thingID, Module: module} })
}

func (f *fake) GetModuleRun(_ context.Context, _ uuid.UUID, module string, id uuid.UUID) (registry.ModuleRun, error) {
	return registry.ModuleRun{ID: id, Module: module}, f.begin()
}

func (f *fake) GetModule(_ context.Context, _ uuid.UUID, name string, _ int) (functions.Module, error) {
	return functions.Module{Name: name}, f.begin()
}

func (f *fake) ListFindings(_ context.Context, _ uuid.UUID, _ heuristics.FindingFilter, page functions.ListPage) ([]heuristics.HeuristicFinding, error) {
	return nil, nil
}

func (f *fake) GetFinding(_ context.Context, _, id uuid.UUID) (heuristics.HeuristicFinding, error) {
	return heuristics.HeuristicFinding{}, functions.NotFound("finding", id.String())
}

func (f *fake) GetCodeReview(_ context.Context, _ uuid.UUID, name string, version int) (heuristics.CodeReview, error) {
	return heuristics.CodeReview{Function: name, Version: version, Scores: []heuristics.HeuristicScore{}}, nil
}

func (f *fake) ReviewCode(_ context.Context, _ functions.Principal, _ uuid.UUID, name string, version int, _, _ string) (heuristics.CodeReview, error) {
	return heuristics.CodeReview{Function: name, Version: version, Scores: []heuristics.HeuristicScore{}}, nil
}

func (f *fake) CreateRule(_ context.Context, _ functions.Principal, _ uuid.UUID, spec planner.Rule, idem functions.Idempotency) (submit.Rule, bool, error) {
	f.rule, f.idem = spec, idem
	return submit.Rule{ID: thingID, Spec: spec, Revision: 1}, f.replayed, f.begin()
}

func (f *fake) ListRules(_ context.Context, _ uuid.UUID, page functions.ListPage) ([]submit.Rule, error) {
	return list(f, page, func(int) submit.Rule { return submit.Rule{ID: thingID} })
}

func (f *fake) GetRule(context.Context, uuid.UUID, uuid.UUID) (submit.Rule, error) {
	return submit.Rule{ID: thingID, Revision: 7}, f.begin()
}

func (f *fake) UpdateRule(_ context.Context, _ functions.Principal, _, _ uuid.UUID, spec planner.Rule, revision int64) (submit.Rule, error) {
	f.rule, f.revision = spec, revision
	return submit.Rule{ID: thingID, Spec: spec, Revision: revision + 1}, f.begin()
}

func (f *fake) DeleteRule(_ context.Context, _ functions.Principal, _, _ uuid.UUID, revision int64) error {
	f.revision = revision
	return f.begin()
}
