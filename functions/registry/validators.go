package registry

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/wasm"
	"github.com/ostraka/ostraka/wasm/builtin"
)

// NoValidator is the name with which a job asks for answers to be compared byte by byte, whatever its function says.
const NoValidator = "none"

// ChooseValidator pins the module that compares a job's results. It is nil where only equal bytes are to be equal. The module is tried
// with its parameters: what it does not understand is better said now than when answers differ.
func (s *Service) ChooseValidator(ctx context.Context, project uuid.UUID, want *functions.ValidatorUse, m bundle.Manifest, pins functions.ModulePins) (*functions.ValidatorRef, error) {
	if want == nil && m.Verification.Validator != nil {
		v := m.Verification.Validator
		want = &functions.ValidatorUse{Module: v.Module, Params: v.Params, Certificate: v.Certificate}
	}
	if want == nil || want.Module == NoValidator {
		return nil, nil
	}
	digest, err := s.ChoosePinned(ctx, project, wasm.KindValidator, want.Module, want.Params, pins)
	if err != nil {
		return nil, err
	}
	ref := &functions.ValidatorRef{Module: want.Module, Digest: digest, Params: want.Params, Certificate: want.Certificate}
	_, _, err = s.Validation(project, uuid.Nil, *ref).Judge(ctx, wasm.Each([]wasm.Unit(nil)))
	return ref, ParamsRefused(err, wasm.KindValidator, ref.Module)
}

// ChoosePinned is ChooseModule for what may be pinned already.
func (s *Service) ChoosePinned(ctx context.Context, project uuid.UUID, kind wasm.Kind, name string, params json.RawMessage, pins functions.ModulePins) (string, error) {
	pinned := pins.Digest(string(kind), name)
	if pinned == "" {
		return s.ChooseModule(ctx, project, kind, name, params)
	}
	if err := functions.CheckParams(params); err != nil {
		return "", err
	}
	return pinned, s.usePinned(ctx, project, kind, name, pinned, params)
}

// ChooseModule finds a validator or a heuristic, built in or uploaded, and returns the digest that pins it.
func (s *Service) ChooseModule(ctx context.Context, project uuid.UUID, kind wasm.Kind, name string, params json.RawMessage) (digest string, err error) {
	if err := functions.CheckParams(params); err != nil {
		return "", err
	}
	if module, found := builtin.Find(kind, name); found {
		return module.Digest, s.keepBuiltin(ctx, project, module)
	}
	if builtin.Taken(name) {
		return "", functions.Invalid("bad_kind", fmt.Sprintf("the built-in module %q is of another kind", name), fmt.Sprintf("name a module of the kind %s", kind))
	}
	return s.pinModule(ctx, project, kind, name, 0, params)
}

// Validation is the validator of a job, ready to judge.
func (s *Service) Validation(project, job uuid.UUID, ref functions.ValidatorRef) wasm.Validation {
	v := wasm.Validation{Use: wasm.Use{Pool: s.modules, Project: project.String(), Job: job.String(), Module: s.PinnedModule(project, ref.Digest), Params: ref.Params}}
	if job != uuid.Nil {
		v.Watch = s.WatchModule(ModuleUse{Project: project, Job: job, Module: ref.Module, Digest: ref.Digest, Step: "comparing answers"}).RanAlone
	}
	return v
}
