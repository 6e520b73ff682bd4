package workflow

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/planner"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/workflow/graph"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/wasm"
)

// Push is a version of a workflow to make, out of what was pushed before.
type Push struct {
	Text      string // workflow.toml
	Functions []Pin
	Modules   []ModulePin
	Files     []PinnedFile
	Paused    bool // schedules that it makes: they begin when somebody resumes them
}

// Pin says which version of which function a name of the definition stands for.
type Pin struct {
	Name     string
	Function string
	Version  int
}

// ModulePin says which version a module of the folder is.
type ModulePin struct {
	Name    string
	Version int
}

// PinnedFile is a file of the folder: what a name of the definition stands for.
type PinnedFile struct {
	Name   string `json:"name" doc:"As steps name it."`
	Digest string `json:"digest" doc:"SHA-256 of the stored object."`
	Bytes  int64  `json:"bytes"`
}

// pinnedParts are what the names of a version stand for.
type pinnedParts struct {
	functions []PinnedFunction
	manifests map[string]bundle.Manifest // of the functions, as steps name them
	modules   functions.ModulePins
	files     []PinnedFile
}

// encoded are the parts as they are stored, in the order in which the version's digest has them.
func (p *pinnedParts) encoded() (list [][]byte, err error) {
	for _, part := range []any{p.functions, p.modules, p.files} {
		text, err := json.Marshal(part)
		if err != nil {
			return nil, fmt.Errorf("encoding what a workflow pins: %w", err)
		}
		list = append(list, text)
	}
	return list, nil
}

// pin looks up what all names of a definition stand for now. Versions do not change, so that what is found stays right.
func (s *Service) pin(ctx context.Context, project uuid.UUID, d *graph.Definition, push Push) (p *pinnedParts, err error) {
	p = &pinnedParts{manifests: map[string]bundle.Manifest{}, modules: functions.ModulePins{}, files: []PinnedFile{}}
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		p.functions, err = pinned(ctx, tx, push.Functions, p.manifests)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := mustProve(d, p.manifests); err != nil {
		return nil, err
	}
	if p.modules, err = s.pinModules(ctx, project, d, push.Modules, p.manifests); err != nil {
		return nil, err
	}
	p.files, err = s.pinFiles(ctx, project, d, push.Files)
	return p, err
}

// pinned looks the versions of functions up, by name.
func pinned(ctx context.Context, tx *store.Tx, pins []Pin, manifests map[string]bundle.Manifest) ([]PinnedFunction, error) {
	list := make([]PinnedFunction, len(pins))
	for i, p := range pins {
		row, err := registry.GetFunction(ctx, tx, p.Function, p.Version)
		if err != nil {
			return nil, err
		}
		manifests[p.Name] = row.Manifest
		list[i] = PinnedFunction{Name: p.Name, Function: row.Name, Version: row.Version, Digest: row.Digest}
	}
	slices.SortFunc(list, func(a, b PinnedFunction) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// mustProve refuses steps of the type prove whose results no module judges alone.
func mustProve(d *graph.Definition, manifests map[string]bundle.Manifest) error {
	for _, step := range d.Steps {
		if step.Type != graph.StepProve || step.Prove.Validator != "" {
			continue
		}
		if v := manifests[step.Map.Function].Verification.Validator; v == nil || !v.Certificate {
			return functions.Invalid("bad_workflow", fmt.Sprintf("steps.%s.validator: neither the step nor its function names a module that judges each result alone", step.Name),
				`write for example validator = "proved", or [verification.validator] with certificate = true into the function`)
		}
	}
	return nil
}

// usedModule is a module that a workflow uses, by kind and name.
type usedModule struct {
	kind wasm.Kind
	name string
}

// usedModules are those that the steps of a workflow use, and those of its folder.
func usedModules(d *graph.Definition, manifests map[string]bundle.Manifest) map[usedModule]bool {
	used := map[usedModule]bool{}
	add := func(kind wasm.Kind, name string) {
		if name != "" && name != functions.NoAggregator && name != functions.ExternalModel { // also the name for no validator
			used[usedModule{kind, name}] = true
		}
	}
	for _, m := range d.Modules {
		add(wasm.Kind(m.Kind), m.Name)
	}
	for _, r := range d.Rules {
		if !strings.Contains(r.Then.Planner, "@") {
			add(wasm.KindPlanner, r.Then.Planner)
		}
	}
	for _, step := range d.Steps {
		add(wasm.KindAggregator, step.Fold.Aggregator)
		add(wasm.KindAggregator, step.Report.Module)
		add(wasm.KindValidator, step.Prove.Validator)
		m, runs := manifests[step.Runs()]
		if !runs {
			continue
		}
		if step.IsJob() {
			add(wasm.KindAggregator, aggregatorOf(step, m))
		}
		if v := m.Verification.Validator; v != nil && step.Prove.Validator == "" {
			add(wasm.KindValidator, v.Module)
		}
		for _, h := range m.Heuristics {
			add(wasm.KindHeuristic, h.Module)
		}
	}
	return used
}

// aggregatorOf is the module that folds the results of a step.
func aggregatorOf(step graph.Step, m bundle.Manifest) string {
	switch {
	case step.Map.Aggregator != "":
		return step.Map.Aggregator
	case m.Aggregator != nil:
		return m.Aggregator.Module
	default:
		return functions.DefaultAggregator
	}
}

// pinModules finds the modules that a workflow uses: those of its folder in the versions that are given, all others in their newest.
func (s *Service) pinModules(ctx context.Context, project uuid.UUID, d *graph.Definition, given []ModulePin, manifests map[string]bundle.Manifest) (functions.ModulePins, error) {
	versions := map[string]int{}
	for _, m := range given {
		if versions[m.Name] != 0 || m.Version < 1 || !slices.ContainsFunc(d.Modules, func(of graph.ModuleFile) bool { return of.Name == m.Name }) {
			return nil, functions.Invalid("bad_workflow", fmt.Sprintf("modules: %.63q is no module of the folder, has no version, or is given twice", m.Name), pushHint)
		}
		versions[m.Name] = m.Version
	}
	for _, m := range d.Modules {
		if versions[m.Name] == 0 {
			return nil, functions.Invalid("bad_workflow", fmt.Sprintf("modules: there is no version of %s", m.Name), pushHint)
		}
	}
	list := functions.ModulePins{}
	for used := range usedModules(d, manifests) {
		pin, err := s.registry.PinModule(ctx, project, used.kind, used.name, versions[used.name])
		if err != nil {
			return nil, fmt.Errorf("pinning the modules of the workflow: %w", err)
		}
		list = append(list, pin)
	}
	slices.SortFunc(list, func(a, b functions.PinnedModule) int { return strings.Compare(a.Kind+" "+a.Name, b.Kind+" "+b.Name) })
	return list, nil
}

// pushHint says what pushes what a version names.
const pushHint = "ostraka workflow push DIR pushes what is in the folder, and names its versions"

// pinFiles finds the objects that the files of a folder were stored as.
func (s *Service) pinFiles(ctx context.Context, project uuid.UUID, d *graph.Definition, given []PinnedFile) ([]PinnedFile, error) {
	digests := map[string]string{}
	for _, f := range given {
		if _, known := d.Files[f.Name]; !known || digests[f.Name] != "" {
			return nil, functions.Invalid("bad_workflow", fmt.Sprintf("files: %.63q is no file of the workflow, or is given twice", f.Name), pushHint)
		}
		digests[f.Name] = f.Digest
	}
	list := []PinnedFile{}
	for _, name := range slices.Sorted(maps.Keys(d.Files)) {
		digest := digests[name]
		if digest == "" {
			return nil, functions.Invalid("bad_workflow", fmt.Sprintf("files: there is no digest of %s", name), pushHint)
		}
		size, err := s.env.Blobs.Stat(ctx, project, digest) // from here on it stays for a day
		if err != nil {
			return nil, registry.ObjectError(err, digest)
		}
		list = append(list, PinnedFile{Name: name, Digest: digest, Bytes: size})
	}
	return list, nil
}

// readPinned reads the definition of a version, with what its names stand for.
func readPinned(text string, files []PinnedFile) (*graph.Definition, error) {
	d, err := graph.Read([]byte(text))
	if err != nil {
		return d, err
	}
	digests := map[string]string{}
	for _, f := range files {
		digests[f.Name] = f.Digest
	}
	d.PinFiles(digests)
	return d, nil
}

// rules are those of a workflow as the project has them: they name functions and planners by the versions that are pinned.
func (p *pinnedParts) rules(d *graph.Definition) []planner.Rule {
	named := map[string]PinnedFunction{}
	for _, f := range p.functions {
		named[f.Name] = f
	}
	list := slices.Clone(d.Rules)
	for i, r := range list {
		list[i].OnFunction = named[r.OnFunction].Function
		list[i].Then.Function, list[i].Then.Version = named[r.Then.Function].Function, named[r.Then.Function].Version
		for _, m := range p.modules {
			if m.Kind == string(wasm.KindPlanner) && m.Name == r.Then.Planner {
				list[i].Then.Planner = fmt.Sprintf("%s@%d", m.Name, m.Version)
			}
		}
	}
	return list
}
