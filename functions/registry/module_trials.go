package registry

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/registry/sql"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/guardian"
	"github.com/ostraka/ostraka/wasm"
	"github.com/ostraka/ostraka/wasm/precheck"
)

const (
	// MaxTrialRecords is how many records a trial on the server takes: each is run a dozen times.
	MaxTrialRecords = 10_000
	// MaxTrialBytes bounds those records in bytes.
	MaxTrialBytes = 8 << 20
	// MaxDeprecation bounds the reason of a deprecation in characters.
	MaxDeprecation = 1_000
)

// TryModule runs the newest version of a module on records, as a job would, and in other ways that must not make a difference. Nothing
// is kept. It is the same trial as `ostraka module test` makes, with less fuel.
func (s *Service) TryModule(ctx context.Context, by functions.Principal, project uuid.UUID, name string, params json.RawMessage, records io.Reader) (wasm.Report, error) {
	m, err := s.GetModule(ctx, project, name, 0)
	if err != nil {
		return wasm.Report{}, err
	}
	if err := functions.CheckParams(params); err != nil {
		return wasm.Report{}, err
	}
	file, err := io.ReadAll(io.LimitReader(records, MaxTrialBytes+1))
	if err != nil {
		return wasm.Report{}, fmt.Errorf("reading the records: %w", err)
	}
	lines := wasm.SplitRecords(file)
	if len(file) > MaxTrialBytes || len(lines) > MaxTrialRecords {
		return wasm.Report{}, &functions.Error{
			Kind: functions.KindTooLarge, Code: "too_many_records", Message: fmt.Sprintf("a trial takes at most %d records and %d bytes", MaxTrialRecords, MaxTrialBytes),
			Hint: "try it with fewer, or on your own machine: ostraka module test",
		}
	}
	r, err := s.env.Blobs.Get(ctx, project, m.Digest, precheck.MaxModuleBytes)
	if err != nil {
		return wasm.Report{}, fmt.Errorf("reading the module %s: %w", name, err)
	}
	about := guardian.Module{Name: m.Name, Version: int64(m.Version), Kind: m.Kind, Digest: m.Digest, Bytes: m.Size}
	intent := moduleIntent(by, project, guardian.ModuleTry, about)
	intent.Asked = trialAsked{Params: params, RecordsSHA256: fmt.Sprintf("%x", sha256.Sum256(file))}
	if err := s.env.Do(ctx, intent, nothingElse); err != nil {
		return wasm.Report{}, err
	}
	trial := wasm.Trial{
		Use:  wasm.Use{Pool: s.modules, Project: project.String(), Job: "trial", Params: params, Fuel: wasm.CheckFuel},
		Kind: wasm.Kind(m.Kind), Records: lines,
	}
	report, err := trial.Try(ctx, r)
	var malformed *wasm.RecordError
	if errors.As(err, &malformed) {
		return report, functions.Invalid("bad_records", err.Error(), "docs/modules.md has the records of each kind")
	}
	if err != nil {
		return report, moduleRefused(err)
	}
	return report, nil
}

// trialAsked is what is asked for by a trial beyond its module.
type trialAsked struct {
	Params        json.RawMessage `json:"params,omitempty"`
	RecordsSHA256 string          `json:"records_sha256"`
}

// deprecationAsked is what is asked for by a deprecation beyond its module.
type deprecationAsked struct {
	Deprecated bool   `json:"deprecated"`
	Reason     string `json:"reason,omitempty"`
}

// nothingElse is for what happens outside of the database: its transaction holds the decision alone, and comes first.
func nothingElse(*store.Tx) error { return nil }

// DeprecateModule keeps new jobs from using any version of a module that there is now, or allows it again. Jobs that use it go on.
func (s *Service) DeprecateModule(ctx context.Context, by functions.Principal, project uuid.UUID, name string, deprecated bool, reason string) (m functions.Module, err error) {
	if len([]rune(reason)) > MaxDeprecation {
		return m, functions.Invalid("bad_reason", fmt.Sprintf("the reason has more than %d characters", MaxDeprecation), "say it shorter")
	}
	if !deprecated {
		reason = ""
	}
	intent := moduleIntent(by, project, guardian.ModuleDeprecate, guardian.Module{Name: name})
	intent.Asked = deprecationAsked{Deprecated: deprecated, Reason: reason}
	err = s.env.Do(ctx, intent, func(tx *store.Tx) error {
		n, err := store.Exec(ctx, tx, sql.DeprecateModule, name, deprecated, reason)
		if err != nil {
			return err
		}
		if n == 0 {
			return functions.NotFound("module", name)
		}
		if m, _, err = store.One[functions.Module](ctx, tx, sql.GetModule, name, 0); err != nil {
			return err
		}
		return base.Audit(ctx, tx, by.Actor(), "module.deprecate", name, map[string]any{"deprecated": deprecated, "reason": reason})
	})
	return m, err
}
