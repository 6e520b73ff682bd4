package graph

import (
	"maps"
	"slices"
	"strings"
)

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

// checkFiles refuses files that no step reads, and steps that read what there is not.
func (d *Definition) checkFiles() error {
	used := map[string]bool{}
	for _, s := range d.Steps {
		if name := s.Map.File; name != "" {
			if _, found := d.Files[name]; !found {
				return wrong(s.field("file"), "list it under [files]", "there is no file %s", brief(name))
			}
			used[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.Files)) {
		if !used[name] {
			return wrong("files."+name, "leave it out, or read it in a step", "no step reads the file")
		}
	}
	return nil
}
