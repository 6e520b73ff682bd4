package graph

import (
	"maps"
	"slices"
)

// ModuleFile is a module that lies in the folder of a workflow. It is pushed under the name that steps, rules and functions use.
type ModuleFile struct {
	Name string // of the module in the project
	Kind string
	File string // within the folder
}

// moduleTable is a module as it is written.
type moduleTable struct {
	Kind string `toml:"kind"`
	File string `toml:"file"`
}

// moduleKinds are those that modules have.
var moduleKinds = []string{"aggregator", "validator", "heuristic", "planner"}

// readModules reads [modules] and [planners].
func (d *Definition) readModules(modules map[string]moduleTable, planners map[string]string) error {
	if n := len(modules) + len(planners); n > MaxModules {
		return wrong("modules", "leave some out", "there are %d modules and planners, and the limit is %d", n, MaxModules)
	}
	for _, name := range slices.Sorted(maps.Keys(modules)) {
		m := ModuleFile{Name: name, Kind: modules[name].Kind, File: modules[name].File}
		if !slices.Contains(moduleKinds, m.Kind) {
			return wrong("modules."+name+".kind", "choose aggregator, validator, heuristic or planner", "there is no kind %s", brief(m.Kind))
		}
		if err := d.addModule("modules."+name, m); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(planners)) {
		if err := d.addModule("planners."+name, ModuleFile{Name: name, Kind: "planner", File: planners[name]}); err != nil {
			return err
		}
	}
	return nil
}

func (d *Definition) addModule(field string, m ModuleFile) error {
	if !workflowName.MatchString(m.Name) {
		return wrong(field, "use 1 to 63 lower-case letters, digits and hyphens, starting with a letter", "%s is no name for a module", brief(m.Name))
	}
	if m.File == "" {
		return wrong(field, `write for example file = "modules/total.wasm"`, "there is no file")
	}
	if slices.ContainsFunc(d.Modules, func(other ModuleFile) bool { return other.Name == m.Name }) {
		return wrong(field, "choose another name for one of them", "there are a module and a planner %s", brief(m.Name))
	}
	d.Modules = append(d.Modules, m)
	return checkLocal(field+".file", m.File)
}
