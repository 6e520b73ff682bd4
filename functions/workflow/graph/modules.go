package graph

import (
	"maps"
	"slices"
	"strings"
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

// readFiles reads [files]: inputs that lie in the folder, by the names that steps use.
func (d *Definition) readFiles(files map[string]string) error {
	if len(files) > MaxFiles {
		return wrong("files", "leave some out, or store them in the project", "there are %d files, and the limit is %d", len(files), MaxFiles)
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if !partName.MatchString(name) {
			return badPart("files", name)
		}
		if files[name] == "" {
			return wrong("files."+name, `write for example "inputs/numbers.jsonl"`, "there is no file")
		}
		if err := checkLocal("files."+name, files[name]); err != nil {
			return err
		}
	}
	d.Files = files
	return nil
}

// PinFiles has steps read what the names under [files] stand for, by their digests. Before that they stand for nothing that there is.
func (d *Definition) PinFiles(digests map[string]string) {
	for i, s := range d.Steps {
		if s.Map.File != "" {
			d.Steps[i].Map.Input = fileInput(s.Map.Input, digests[s.Map.File])
		}
	}
}

// fileInput is an input over a stored object instead of a file of the folder.
func fileInput(input any, digest string) any {
	from, is := input.(map[string]any)
	if !is {
		return input
	}
	table := maps.Clone(from)
	delete(table, "file")
	table["object"] = digest
	return table
}

// noDigest stands for a file whose digest is not known yet.
var noDigest = strings.Repeat("0", 64)

// file reads file = "NAME" of an input; "": it names none.
func (t stepTable) file(s Step, input any) (string, error) {
	table, is := input.(map[string]any)
	if !is || table["file"] == nil || t.Grid != nil || t.Objects != nil || t.Range != nil {
		return "", nil
	}
	name, is := table["file"].(string)
	if !is || name == "" || table["object"] != nil {
		return "", wrong(s.field("file"), `write for example { file = "numbers" }, as [files] names it`, "an input is one file")
	}
	return name, nil
}
