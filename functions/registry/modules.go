package registry

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/blob"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/registry/sql"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/guardian"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/wasm"
	"github.com/ostraka/ostraka/wasm/builtin"
	"github.com/ostraka/ostraka/wasm/precheck"
)

// ErrModuleTooLarge refuses a module before anything of it is looked at.
var ErrModuleTooLarge = &functions.Error{
	Kind: functions.KindTooLarge, Code: "module_too_large", Message: fmt.Sprintf("a module has at most %d bytes", precheck.MaxModuleBytes),
	Hint: "leave out debug sections (go build -ldflags='-s -w', clang -Wl,-s, wasm-opt --strip-debug), and optimise for size",
}

// PushModule checks a module, compiles it and runs it once outside this process, stores it and makes it the newest version of its
// name. The same bytes pushed again are the version that they are already.
func (s *Service) PushModule(ctx context.Context, by functions.Principal, project uuid.UUID, name, kind string, body io.Reader) (m functions.Module, created bool, err error) {
	if err := functions.CheckName("module", name); err != nil {
		return m, false, err
	}
	if builtin.Taken(name) || name == functions.NoAggregator || name == functions.ExternalModel {
		return m, false, functions.Invalid("bad_name", fmt.Sprintf("%q is the name of a built-in module", name), "choose another name")
	}
	if !slices.Contains(wasm.Kinds(), wasm.Kind(kind)) {
		return m, false, functions.Invalid("bad_kind", fmt.Sprintf("there is no kind %q of modules", kind), fmt.Sprintf("the kinds are %v", wasm.Kinds()))
	}
	bytesOf, err := io.ReadAll(io.LimitReader(body, precheck.MaxModuleBytes+1))
	if err != nil {
		return m, false, fmt.Errorf("reading the module: %w", err)
	}
	if len(bytesOf) > precheck.MaxModuleBytes {
		return m, false, ErrModuleTooLarge
	}
	info, err := s.modules.Check(ctx, project.String(), bytesOf, wasm.Kind(kind))
	if err != nil {
		return m, false, moduleRefused(err)
	}
	digest, size, err := s.env.Blobs.Put(ctx, project, bytes.NewReader(bytesOf), precheck.MaxModuleBytes)
	if err != nil {
		return m, false, fmt.Errorf("storing the module: %w", err)
	}
	err = s.env.Do(ctx, moduleIntent(by, project, guardian.ModulePublish, guardian.Module{Name: name, Kind: kind, Digest: digest, Bytes: size}), func(tx *store.Tx) error {
		if _, err := store.Exec(ctx, tx, sql.LockModules); err != nil {
			return err
		}
		n, err := store.Exec(ctx, tx, sql.AddModule, base.NewID(), name, kind, digest, size, info.Description)
		if err != nil {
			return err
		}
		created = n == 1
		if m, _, err = store.One[functions.Module](ctx, tx, sql.ModuleByDigest, name, digest); err != nil || !created {
			return err
		}
		return base.Audit(ctx, tx, by.Actor(), "module.push", name, map[string]any{"version": m.Version, "digest": digest})
	})
	return m, created, err
}

// moduleIntent is what happens with a module in the words of the guardian.
func moduleIntent(by functions.Principal, project uuid.UUID, kind guardian.Kind, m guardian.Module) base.Intent {
	return base.Intent{By: by, Project: project, Kind: kind, Subject: m.Name, Facts: guardian.ModuleFacts{Module: m}}
}

// moduleRefused tells the owner why; an operational failure is not the module's fault.
func moduleRefused(err error) error {
	var w *wasm.Error
	if !errors.As(err, &w) {
		return fmt.Errorf("checking the module: %w", err)
	}
	if w.Operational() {
		return &functions.Error{Kind: functions.KindUnavailable, Code: "module_host", Message: "the module could not be checked now: " + w.Message, Hint: "send it again in a moment", Err: err}
	}
	hint := w.Hint
	if hint == "" {
		hint = "mend the module and push it again; docs/modules.md has the contract"
	}
	return &functions.Error{Kind: functions.KindInvalid, Code: "module_" + string(w.Class), Message: strings.TrimSuffix(err.Error(), " ("+w.Hint+")"), Hint: hint, Err: err}
}

// GetModule returns one version of a module; version 0 is the newest.
func (s *Service) GetModule(ctx context.Context, project uuid.UUID, name string, version int) (m functions.Module, err error) {
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		var found bool
		if m, found, err = store.One[functions.Module](ctx, tx, sql.GetModule, name, version); err == nil && !found {
			err = functions.NotFound("module", name)
		}
		return err
	})
	return m, err
}

// ListModules lists the newest version of each module, by name.
func (s *Service) ListModules(ctx context.Context, project uuid.UUID, page functions.ListPage) (list []functions.Module, err error) {
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		list, err = store.Many[functions.Module](ctx, tx, sql.ListModules, page.After, base.PageLimit(page))
		return err
	})
	return list, err
}

// ChooseAggregator pins the module that folds a job's results. It is nil when nothing is to be folded.
func (s *Service) ChooseAggregator(ctx context.Context, project uuid.UUID, want functions.NewJob, m bundle.Manifest) (*functions.AggregatorRef, error) {
	name, params := want.Aggregator, want.Params
	if name == "" && m.Aggregator != nil {
		name = m.Aggregator.Module
	}
	if name == "" {
		name = functions.DefaultAggregator
	}
	if params == nil && m.Aggregator != nil && m.Aggregator.Module == name {
		params = m.Aggregator.Params
	}
	if name == functions.NoAggregator {
		return nil, nil
	}
	if err := functions.CheckParams(params); err != nil {
		return nil, err
	}
	if IsBuiltin(name) {
		module, merged, err := builtin.Resolve(name, params)
		if err != nil {
			return nil, functions.Invalid("bad_params", err.Error(), "docs/modules.md lists what the built-in modules take")
		}
		if pinned := want.Modules.Digest(string(wasm.KindAggregator), name); pinned != "" && pinned != module.Digest {
			return &functions.AggregatorRef{Module: name, Digest: pinned, Params: merged}, nil
		}
		return &functions.AggregatorRef{Module: name, Digest: module.Digest, Params: merged}, s.keepBuiltin(ctx, project, module)
	}
	if pinned := want.Modules.Digest(string(wasm.KindAggregator), name); pinned != "" {
		return &functions.AggregatorRef{Module: name, Digest: pinned, Params: params}, s.usePinned(ctx, project, wasm.KindAggregator, name, pinned, params)
	}
	digest, err := s.pinModule(ctx, project, wasm.KindAggregator, name, 0, params)
	if err != nil {
		return nil, err
	}
	return &functions.AggregatorRef{Module: name, Digest: digest, Params: params}, nil
}

// pinModule finds a version of an uploaded module, 0 being the newest, and holds the parameters against its schema.
func (s *Service) pinModule(ctx context.Context, project uuid.UUID, kind wasm.Kind, name string, version int, params json.RawMessage) (digest string, err error) {
	module, err := s.GetModule(ctx, project, name, version)
	if err != nil {
		return "", err
	}
	if err := usable(module, kind); err != nil {
		return "", err
	}
	if err := checkParams(module, kind, params); err != nil {
		return "", err
	}
	return module.Digest, nil
}

// TryAggregator folds nothing with the parameters that were asked for: what the module does not understand is better said now than
// when all the work is done. Without parameters there is nothing to misunderstand.
func (s *Service) TryAggregator(ctx context.Context, project uuid.UUID, ref *functions.AggregatorRef) error {
	if ref == nil || len(ref.Params) == 0 {
		return nil
	}
	fold := s.Aggregation(project, uuid.Nil, *ref)
	_, _, err := fold.Fold(ctx, wasm.Each([]wasm.Item(nil)))
	return ParamsRefused(err, wasm.KindAggregator, ref.Module)
}

// ParamsRefused is the answer to parameters that a module was tried with and that it did not understand.
func ParamsRefused(err error, kind wasm.Kind, name string) error {
	var module *wasm.Error
	if !errors.As(err, &module) {
		return err
	}
	if module.Operational() {
		return moduleRefused(err)
	}
	why := module.Message
	if said := strings.TrimSpace(module.Stderr); !strings.Contains(why, said) { // what is short stands in the message already
		why += " " + said
	}
	return functions.Invalid("bad_params", fmt.Sprintf("the %s %s does not accept its parameters: %s", kind, name, why),
		"docs/modules.md lists what the built-in modules take")
}

// IsBuiltin says whether a module ships with the program.
func IsBuiltin(name string) bool { return slices.Contains(builtin.Names(), name) }

// keepBuiltin stores a built-in module among the project's objects: what a job has pinned is still there when another version of this
// program, which ships other bytes, goes on with the job.
func (s *Service) keepBuiltin(ctx context.Context, project uuid.UUID, m wasm.Module) error {
	if s.kept.has(project, m.Digest) {
		return nil
	}
	if err := s.storeBuiltin(ctx, project, m); err != nil {
		return err
	}
	s.kept.add(project, m.Digest)
	return nil
}

func (s *Service) storeBuiltin(ctx context.Context, project uuid.UUID, m wasm.Module) error {
	err := s.env.Project(ctx, project, func(tx *store.Tx) error {
		_, err := store.Exec(ctx, tx, sql.KeepObjects, []string{m.Digest})
		return err
	})
	if err != nil {
		return fmt.Errorf("keeping a built-in module: %w", err)
	}
	_, err = s.env.Blobs.Stat(ctx, project, m.Digest)
	if err == nil {
		return nil
	}
	if !errors.Is(err, blob.ErrNotFound) {
		return fmt.Errorf("looking for the built-in module %s: %w", m.Digest, err)
	}
	r, err := m.Open(ctx)
	if err != nil {
		return fmt.Errorf("reading a built-in module: %w", err)
	}
	defer func() { _ = r.Close() }() // it is memory
	if _, err := s.env.Blobs.PutDigest(ctx, project, m.Digest, r, precheck.MaxModuleBytes); err != nil {
		return fmt.Errorf("storing the built-in module %s: %w", m.Digest, err)
	}
	return nil
}

// PinnedModule finds the bytes of a module that was pinned by its digest.
func (s *Service) PinnedModule(project uuid.UUID, digest string) wasm.Module {
	if module, found := builtin.ByDigest(digest); found {
		return module
	}
	return wasm.Module{Digest: digest, Open: func(ctx context.Context) (io.ReadCloser, error) {
		r, _, err := s.env.Blobs.Open(ctx, project, digest)
		return r, err
	}}
}
