package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/functions/workflow/graph"
	"github.com/ostraka/ostraka/runtime/bundle"
)

// workflowFolder is a folder with a workflow.toml, as it is read from the disk.
type workflowFolder struct {
	definition *graph.Definition
	text       string
	bundles    map[string]*bundle.Bundle        // of functions, by the names of the definition
	known      map[string]client.PinnedFunction // those that the server's newest version has just so; see compare
	parts      []workflowPart
	pinned     map[string]pinnedPart // the same of parts, by kind and name; see compareParts
}

// readWorkflowFolder reads and checks a folder. Nothing outside of it is looked at.
func readWorkflowFolder(dir string) (*workflowFolder, error) {
	text, err := readDefinition(filepath.Join(dir, graph.FileName))
	if err != nil {
		return nil, err
	}
	f := &workflowFolder{text: string(text), bundles: map[string]*bundle.Bundle{}, known: map[string]client.PinnedFunction{}, pinned: map[string]pinnedPart{}}
	if f.definition, err = graph.Parse(text); err != nil {
		return nil, badWorkflowFile(err)
	}
	if err := refuseLater(dir); err != nil {
		return nil, err
	}
	for _, name := range f.names() {
		from := f.definition.Functions[name]
		if !filepath.IsLocal(filepath.FromSlash(from)) {
			return nil, badWorkflowFile(&graph.Error{Field: "functions." + name, Detail: fmt.Sprintf("%q is not within the folder of the workflow", from), Hint: "put the function into the folder"})
		}
		if err := refuseLinks(dir, from); err != nil {
			return nil, badWorkflowFile(&graph.Error{Field: "functions." + name, Detail: err.Error(), Hint: "put the function itself into the folder"})
		}
		if f.bundles[name], err = packFunction(filepath.Join(dir, filepath.FromSlash(from))); err != nil {
			return nil, fmt.Errorf("packing the function %s: %w", name, err)
		}
	}
	f.parts, err = readParts(dir, f.definition)
	return f, err
}

// readDefinition reads no more than a definition may have.
func readDefinition(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &exitError{code: exitUsage, err: fmt.Errorf("there is no %s", path), hint: "give the folder that holds workflow.toml; docs/workflows.md shows one"}
	}
	if err != nil {
		return nil, fmt.Errorf("reading the workflow: %w", err)
	}
	if !info.Mode().IsRegular() { // a pipe would be waited for
		return nil, &exitError{code: exitUsage, err: fmt.Errorf("%s is a link or a special file", path), hint: "put the file itself into the folder"}
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading the workflow: %w", err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, graph.MaxDefinitionBytes+1))
	if err != nil {
		return nil, fmt.Errorf("reading the workflow: %w", err)
	}
	return text, nil
}

// refuseLinks refuses a path below dir that leads through a link: it could lead out of the folder. What there is not is left to others.
func refuseLinks(dir, local string) error {
	at := dir
	for part := range strings.SplitSeq(filepath.Clean(filepath.FromSlash(local)), string(filepath.Separator)) {
		at = filepath.Join(at, part)
		info, err := os.Lstat(at)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if !info.IsDir() && !info.Mode().IsRegular() {
			return fmt.Errorf("%s is a link or a special file", at)
		}
	}
	return nil
}

func badWorkflowFile(err error) error {
	var wrong *graph.Error
	if errors.As(err, &wrong) {
		return &exitError{code: exitUsage, err: fmt.Errorf("%s: %s", wrong.Field, wrong.Detail), hint: wrong.Hint}
	}
	return err
}

// refuseLater refuses what lies in the folder and would not be pushed, such as rules/: it would seem to hold.
func refuseLater(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("reading the workflow: %w", err)
	}
	for _, e := range entries {
		name, _, _ := strings.Cut(e.Name(), ".")
		if name == "rules" || name == "invariants" || name == "schedules" {
			return badWorkflowFile(&graph.Error{Field: name, Detail: name + " of a workflow stand in workflow.toml", Hint: "write each as [[" + name + "]], and take " + e.Name() + " away"})
		}
	}
	return nil
}

// names are those of the functions, in order.
func (f *workflowFolder) names() []string {
	return slices.Sorted(maps.Keys(f.definition.Functions))
}
