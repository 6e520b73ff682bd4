package main

import (
	"context"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
	"github.com/ostraka/ostraka/functions/workflow/graph"
	"github.com/ostraka/ostraka/runtime/bundle"
)

// workflowChange is a file that a push changes, or a function that it takes away.
type workflowChange struct {
	Change string `json:"change"` // add, change or remove
	What   string `json:"what"`
	Was    string `json:"was,omitempty"`
	Is     string `json:"is,omitempty"`
}

func (c workflowChange) line() string {
	sign := map[string]string{"add": "+", "change": "~", "remove": "-"}[c.Change]
	text := sign + " " + c.What
	switch {
	case c.Was != "" && c.Is != "":
		text += fmt.Sprintf("  %s -> %s", shortDigest(c.Was), shortDigest(c.Is))
	case c.Was != "" || c.Is != "":
		text += "  " + shortDigest(c.Was+c.Is)
	}
	return plain(text)
}

// compare says what a push would change, by the digests of all files. Functions whose bundle is the same are not looked into.
func (f *workflowFolder) compare(ctx context.Context, c *connection) (changes []workflowChange, err error) {
	was, err := getWorkflow(ctx, c, f.definition.Name)
	if isNotFound(err) {
		was, err = answer.Document[client.WorkflowDetail]{}, nil
	}
	if err != nil {
		return nil, explain("getting the workflow", err)
	}
	before := map[string]client.PinnedFunction{}
	for _, old := range was.Value.Functions {
		before[old.Name] = old
	}
	if change := compareText(was.Value.Definition, f.text); change != nil {
		changes = append(changes, *change)
	}
	for _, name := range f.names() {
		old, known := before[name]
		delete(before, name)
		if known && old.Digest == f.bundles[name].Digest {
			f.known[name] = old
			continue
		}
		there := map[string]bundle.File{}
		if known {
			if there, err = filesOf(ctx, c, old.Digest); err != nil {
				return nil, fmt.Errorf("reading the function %s on the server: %w", name, err)
			}
		}
		changes = append(changes, compareFiles(filepath.ToSlash(f.definition.Functions[name]), there, f.bundles[name].Files)...)
	}
	for _, old := range was.Value.Functions {
		if _, left := before[old.Name]; left {
			changes = append(changes, workflowChange{Change: "remove", What: "function " + old.Name + " (" + old.Function + ")", Was: old.Digest})
		}
	}
	return slices.Concat(changes, f.compareParts(was.Value), f.compareRules(was.Value.Definition), f.compareSchedules(was.Value.Definition)), nil
}

// filesOf are the files of a bundle that the server has, by path. It checks them as foreign bytes.
func filesOf(ctx context.Context, c *connection, digest string) (map[string]bundle.File, error) {
	body, err := answer.Stream(c.GetObject(ctx, c.project, digest))
	if err != nil {
		return nil, err
	}
	defer body.Close()
	b, err := bundle.Verify(body, -1)
	if err != nil {
		return nil, err
	}
	files := map[string]bundle.File{}
	for _, f := range b.Files {
		files[f.Path] = f
	}
	return files, nil
}

// compareFiles says how the files of a folder differ from those that were there, which it uses up.
func compareFiles(folder string, was map[string]bundle.File, is []bundle.File) (changes []workflowChange) {
	for _, f := range is {
		old, known := was[f.Path]
		delete(was, f.Path)
		switch {
		case !known:
			changes = append(changes, workflowChange{Change: "add", What: path.Join(folder, f.Path), Is: f.Digest})
		case old.Digest != f.Digest || old.Executable != f.Executable:
			changes = append(changes, workflowChange{Change: "change", What: path.Join(folder, f.Path), Was: old.Digest, Is: f.Digest})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(was)) {
		changes = append(changes, workflowChange{Change: "remove", What: path.Join(folder, name), Was: was[name].Digest})
	}
	return changes
}

// compareText says how the definition differs; nil: not at all.
func compareText(was, is string) *workflowChange {
	switch was {
	case "":
		return &workflowChange{Change: "add", What: graph.FileName}
	case is:
		return nil
	}
	added, removed := lineDifference(was, is)
	return &workflowChange{Change: "change", What: fmt.Sprintf("%s (%d lines added, %d removed)", graph.FileName, added, removed)}
}

// lineDifference counts the lines that one text has more often than the other.
func lineDifference(was, is string) (added, removed int) {
	n := map[string]int{}
	for line := range strings.SplitSeq(is, "\n") {
		n[line]++
	}
	for line := range strings.SplitSeq(was, "\n") {
		n[line]--
	}
	for _, more := range n {
		added += max(more, 0)
		removed += max(-more, 0)
	}
	return added, removed
}
