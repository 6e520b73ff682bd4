package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"strings"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/source"
)

// sourceOf reads the Python of a function, by the paths of the bundle, without its tests.
func sourceOf(b *bundle.Bundle) (map[string]string, error) {
	dir, err := os.MkdirTemp("", "ostraka-source-")
	if err != nil {
		return nil, fmt.Errorf("reading the source: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }() // it is in the system's folder for what may be lost
	if err := b.Unpack(dir); err != nil {
		return nil, err
	}
	files := map[string]string{}
	for _, f := range b.Files {
		if path.Ext(f.Path) != ".py" || strings.HasPrefix(f.Path, "tests/") {
			continue
		}
		text, err := os.ReadFile(path.Join(dir, f.Path))
		if err != nil {
			return nil, fmt.Errorf("reading the source: %w", err)
		}
		files[f.Path] = strings.ToValidUTF8(string(text), "\uFFFD")
	}
	return files, nil
}

// checkStarts refuses a function that no agent can start, and tells of what an agent may lack.
func checkStarts(ctx context.Context, t *terminal, b *bundle.Bundle) error {
	if b.Manifest.IsWasm() {
		return nil // what can be known of a module without running it was checked when it was packed
	}
	if b.Manifest.RuntimeDigest() != "" {
		t.say("%s runs in the runtime %s, so it is not looked here whether it starts", b.Manifest.Name, b.Manifest.RuntimeName())
		return nil
	}
	files, err := sourceOf(b)
	if err != nil {
		return err
	}
	tree, err := openPython(ctx, t, "")
	if err != nil {
		return err
	}
	faults, err := source.Check(ctx, tree.Interpreter, files, source.Entry{Files: b.Manifest.EntryFiles(), Callable: b.Manifest.Callable()})
	if err := errors.Join(err, tree.Release()); err != nil {
		return err
	}
	var refused *exitError
	for _, f := range faults {
		if f.Sure && refused == nil {
			refused = &exitError{code: exitUsage, err: fmt.Errorf("no agent can start %s: %s", b.Manifest.Name, plain(f.String())), hint: startHint(b.Manifest, f)}
			continue
		}
		t.say("warning: %s", plain(f.String()))
		if f.Kind == source.KindImport {
			t.say("  put the package into the folder if it is pure Python; agents have it only where their own interpreter does (agent start --python)")
		}
	}
	if refused != nil {
		return refused
	}
	return nil
}

// startHint says what to do about a fault.
func startHint(m bundle.Manifest, f source.Fault) string {
	if f.Kind != source.KindHandler {
		return "fix it; ostraka function run shows what the function gives, and --unchecked pushes it as it is"
	}
	if f.Near == "" {
		return fmt.Sprintf("define def %s(shard), or name another entrypoint in function.toml", m.Callable())
	}
	return fmt.Sprintf("did you mean %s? rename it to %s, or write entrypoint = %q in function.toml", plain(f.Near), m.Callable(), m.Module()+":"+plain(f.Near))
}
