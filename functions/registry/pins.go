package registry

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/registry/sql"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/wasm"
	"github.com/ostraka/ostraka/wasm/builtin"
)

// PinModule finds what a name of a module stands for now: a built-in one, or a version of the project's, 0 being the newest.
func (s *Service) PinModule(ctx context.Context, project uuid.UUID, kind wasm.Kind, name string, version int) (functions.PinnedModule, error) {
	pin := functions.PinnedModule{Name: name, Kind: string(kind)}
	module, found := builtin.Find(kind, name)
	if kind == wasm.KindAggregator && IsBuiltin(name) {
		module, found = builtin.Module(), true
	}
	if found {
		pin.Digest = module.Digest
		return pin, s.keepBuiltin(ctx, project, module)
	}
	if builtin.Taken(name) {
		return pin, functions.Invalid("bad_kind", fmt.Sprintf("the built-in module %q is of another kind", name), fmt.Sprintf("name a module of the kind %s", kind))
	}
	m, err := s.GetModule(ctx, project, name, version)
	if err != nil {
		return pin, err
	}
	pin.Version, pin.Digest = m.Version, m.Digest
	return pin, usable(m, kind)
}

// usable says why a module cannot be used as one of a kind, if so.
func usable(m functions.Module, kind wasm.Kind) error {
	if m.Kind != string(kind) {
		return functions.Invalid("bad_kind", fmt.Sprintf("module %q is of the kind %s", m.Name, m.Kind), fmt.Sprintf("name a module of the kind %s", kind))
	}
	if m.DeprecatedAt != nil {
		return &functions.Error{Kind: functions.KindConflict, Code: "module_deprecated", Message: fmt.Sprintf("module %q is deprecated: %s", m.Name, m.Deprecation), Hint: "use another module, or push a new version of it"}
	}
	return nil
}

// usePinned holds a module that was pinned against what it is asked for: a deprecation stops it as well.
func (s *Service) usePinned(ctx context.Context, project uuid.UUID, kind wasm.Kind, name, digest string, params json.RawMessage) error {
	return s.env.Project(ctx, project, func(tx *store.Tx) error {
		m, found, err := store.One[functions.Module](ctx, tx, sql.ModuleByDigest, name, digest)
		if err != nil || !found {
			return err // a built-in one of another version of this program, which was kept when it was pinned
		}
		if err := usable(m, kind); err != nil {
			return err
		}
		return checkParams(m, kind, params)
	})
}

// checkParams holds parameters against the schema of a module.
func checkParams(m functions.Module, kind wasm.Kind, params json.RawMessage) error {
	if err := m.Description.CheckParams(params); err != nil {
		return functions.Invalid("bad_params", fmt.Sprintf("the %s %s: %v", kind, m.Name, err), "`ostraka module show` has the schema of its parameters")
	}
	return nil
}
