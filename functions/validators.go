package functions

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/wasm"
	"github.com/ostraka/ostraka/wasm/builtin"
)

// NoValidator is the name with which a job asks for answers to be compared byte by byte, whatever its function says.
const NoValidator = "none"

// chooseValidator pins the module that compares a job's results. It is nil where only equal bytes are to be equal. The module is tried
// with its parameters: what it does not understand is better said now than when answers differ.
func (s *Service) chooseValidator(ctx context.Context, project uuid.UUID, want *ValidatorUse, m bundle.Manifest) (*ValidatorRef, error) {
	if want == nil && m.Verification.Validator != nil {
		v := m.Verification.Validator
		want = &ValidatorUse{Module: v.Module, Params: v.Params, Certificate: v.Certificate}
	}
	if want == nil || want.Module == NoValidator {
		return nil, nil
	}
	digest, err := s.chooseModule(ctx, project, wasm.KindValidator, want.Module, want.Params)
	if err != nil {
		return nil, err
	}
	ref := &ValidatorRef{Module: want.Module, Digest: digest, Params: want.Params, Certificate: want.Certificate}
	_, _, err = s.validation(project, uuid.Nil, *ref).Judge(ctx, wasm.Each([]wasm.Unit(nil)))
	return ref, paramsRefused(err, wasm.KindValidator, ref.Module)
}

// chooseModule finds a validator or a heuristic, built in or uploaded, and returns the digest that pins it.
func (s *Service) chooseModule(ctx context.Context, project uuid.UUID, kind wasm.Kind, name string, params json.RawMessage) (digest string, err error) {
	if err := checkParams(params); err != nil {
		return "", err
	}
	if module, found := builtin.Find(kind, name); found {
		return module.Digest, s.keepBuiltin(ctx, project, module)
	}
	if builtin.Taken(name) {
		return "", Invalid("bad_kind", fmt.Sprintf("the built-in module %q is of another kind", name), fmt.Sprintf("name a module of the kind %s", kind))
	}
	return s.pinModule(ctx, project, kind, name, params)
}

// validation is the validator of a job, ready to judge.
func (s *Service) validation(project, job uuid.UUID, ref ValidatorRef) wasm.Validation {
	v := wasm.Validation{Use: wasm.Use{Pool: s.modules, Project: project.String(), Job: job.String(), Module: s.pinnedModule(project, ref.Digest), Params: ref.Params}}
	if job != uuid.Nil {
		v.Watch = s.watch(moduleUse{project: project, job: job, module: ref.Module, digest: ref.Digest, step: "comparing answers"}).ranAlone
	}
	return v
}
