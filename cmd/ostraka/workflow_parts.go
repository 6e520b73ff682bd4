package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
	"github.com/ostraka/ostraka/functions/planner"
	"github.com/ostraka/ostraka/functions/workflow/graph"
	"github.com/ostraka/ostraka/wasm/precheck"
)

// workflowPart is a module or an input that lies in the folder of a workflow.
type workflowPart struct {
	field  string // as in workflow.toml
	name   string
	kind   string // of a module; "": it is an input
	file   string // within the folder, with slashes
	path   string
	digest string
	bytes  []byte // of a module: they are sent at once
}

// readParts reads the modules and inputs that a definition names. Nothing outside of the folder is looked at.
func readParts(dir string, d *graph.Definition) (parts []workflowPart, err error) {
	for _, m := range d.Modules {
		parts = append(parts, workflowPart{field: "modules." + m.Name, name: m.Name, kind: m.Kind, file: m.File})
	}
	for _, name := range slices.Sorted(maps.Keys(d.Files)) {
		parts = append(parts, workflowPart{field: "files." + name, name: name, file: d.Files[name]})
	}
	for i := range parts {
		if err := parts[i].read(dir); err != nil {
			return nil, err
		}
	}
	return parts, nil
}

func (p *workflowPart) read(dir string) error {
	refused := func(detail, hint string) error {
		return badWorkflowFile(&graph.Error{Field: p.field, Detail: detail, Hint: hint})
	}
	if err := refuseLinks(dir, p.file); err != nil {
		return refused(err.Error(), "put the file itself into the folder")
	}
	p.path = filepath.Join(dir, filepath.FromSlash(p.file))
	f, err := os.Open(p.path)
	if errors.Is(err, fs.ErrNotExist) {
		return refused("there is no "+p.path, "put the file into the folder")
	}
	if err != nil {
		return fmt.Errorf("reading %s: %w", p.field, err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.IsDir() {
		return refused(p.path+" is no file", "name a file of the folder")
	}
	sum := sha256.New()
	var from io.Reader = f
	if p.kind != "" {
		if p.bytes, err = io.ReadAll(io.LimitReader(f, precheck.MaxModuleBytes+1)); err == nil && len(p.bytes) > precheck.MaxModuleBytes {
			return refused(fmt.Sprintf("the module has more than %d bytes", precheck.MaxModuleBytes), "leave out debug sections, and optimise for size")
		}
		from = bytes.NewReader(p.bytes)
	}
	if err == nil {
		_, err = io.Copy(sum, from)
	}
	if err != nil {
		return fmt.Errorf("reading %s: %w", p.field, err)
	}
	p.digest = hex.EncodeToString(sum.Sum(nil))
	return nil
}

// pinnedPart is what the server's newest version has of a part.
type pinnedPart struct {
	version int64 // of a module
	digest  string
}

// pinnedParts are those of a version, by kind and name.
func pinnedParts(was client.WorkflowDetail) map[string]pinnedPart {
	pinned := map[string]pinnedPart{}
	for _, m := range was.Modules {
		pinned[m.Kind+" "+m.Name] = pinnedPart{m.Version, m.Digest}
	}
	for _, f := range was.Files {
		pinned[" "+f.Name] = pinnedPart{digest: f.Digest}
	}
	return pinned
}

// compareParts says how modules and inputs differ from those of the newest version, and remembers what need not be pushed.
func (f *workflowFolder) compareParts(was client.WorkflowDetail) (changes []workflowChange) {
	pinned, is := pinnedParts(was), map[string]bool{}
	before := map[string]string{} // files, by kind and name
	if d, err := graph.Read([]byte(was.Definition)); err == nil {
		for _, m := range d.Modules {
			before[m.Kind+" "+m.Name] = m.File
		}
		for name, file := range d.Files {
			before[" "+name] = file
		}
	}
	for _, p := range f.parts {
		key := p.kind + " " + p.name
		is[key] = true
		old, known := pinned[key]
		_, there := before[key]
		switch {
		case known && old.digest == p.digest:
			f.pinned[key] = old
			if !there {
				changes = append(changes, workflowChange{Change: "add", What: p.file, Is: p.digest})
			}
		case known && there:
			changes = append(changes, workflowChange{Change: "change", What: p.file, Was: old.digest, Is: p.digest})
		default:
			changes = append(changes, workflowChange{Change: "add", What: p.file, Is: p.digest})
		}
	}
	for _, key := range slices.Sorted(maps.Keys(before)) {
		if !is[key] {
			changes = append(changes, workflowChange{Change: "remove", What: before[key], Was: pinned[key].digest})
		}
	}
	return changes
}

// pushParts pushes the modules and stores the inputs that the server does not have, and names all of them.
func (f *workflowFolder) pushParts(ctx context.Context, t *terminal, c *connection, request *client.PushWorkflowRequest) error {
	for _, p := range f.parts {
		old, known := f.pinned[p.kind+" "+p.name]
		switch {
		case p.kind == "" && known:
			request.Files = append(request.Files, client.WorkflowFileRequest{Name: p.name, Digest: p.digest})
		case p.kind == "":
			doc, err := putFile(ctx, t, c, p.path)
			if err != nil {
				return err
			}
			request.Files = append(request.Files, client.WorkflowFileRequest{Name: p.name, Digest: doc.Value.Digest})
		case known:
			request.Modules = append(request.Modules, client.WorkflowModuleRequest{Name: p.name, Version: old.version})
		default:
			doc, err := answer.Read[client.Module](c.PushModuleWithBody(ctx, c.project,
				&client.PushModuleParams{Name: p.name, Kind: new(client.PushModuleParamsKind(p.kind))}, "application/wasm", bytes.NewReader(p.bytes)))
			if err != nil {
				return explain("pushing the module "+p.name, err)
			}
			request.Modules = append(request.Modules, client.WorkflowModuleRequest{Name: p.name, Version: doc.Value.Version})
		}
	}
	return nil
}

// compareRules says how the rules of a folder differ from those of the newest version.
func (f *workflowFolder) compareRules(was string) []workflowChange {
	return compareNamed("rule ", olderDefinition(was).Rules, f.definition.Rules, func(r planner.Rule) string { return r.Name }, graph.SameRule)
}

// compareSchedules says how the schedules of a folder differ from those of the newest version.
func (f *workflowFolder) compareSchedules(was string) []workflowChange {
	return compareNamed("schedule ", olderDefinition(was).Schedules, f.definition.Schedules, func(s graph.Schedule) string { return s.Name }, graph.SameSchedule)
}

// olderDefinition is what a version says; nothing where there is none, or another program wrote it.
func olderDefinition(text string) *graph.Definition {
	if d, err := graph.Read([]byte(text)); err == nil {
		return d
	}
	return &graph.Definition{}
}

// compareNamed says which of some things are added, changed and removed, by their names.
func compareNamed[T any](kind string, was, is []T, name func(T) string, same func(a, b T) bool) (changes []workflowChange) {
	before := map[string]T{}
	for _, one := range was {
		before[name(one)] = one
	}
	for _, one := range is {
		old, known := before[name(one)]
		delete(before, name(one))
		switch {
		case !known:
			changes = append(changes, workflowChange{Change: "add", What: kind + name(one)})
		case !same(old, one):
			changes = append(changes, workflowChange{Change: "change", What: kind + name(one)})
		}
	}
	for _, gone := range slices.Sorted(maps.Keys(before)) {
		changes = append(changes, workflowChange{Change: "remove", What: kind + gone})
	}
	return changes
}
