package registry

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/registry/sql"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/guardian"
	"github.com/ostraka/ostraka/runtime/bundle"
)

// FunctionRow is a version of a function as it stands in its tables.
type FunctionRow struct {
	FunctionID uuid.UUID
	Name       string
	Version    int
	Digest     string
	Size       int64
	Manifest   bundle.Manifest
	CreatedAt  time.Time
	Signature  []byte
	SignedBy   *int
}

// FunctionVersion is the version as its readers see it.
func (r FunctionRow) FunctionVersion() functions.FunctionVersion {
	return functions.FunctionVersion{Name: r.Name, Version: r.Version, Digest: r.Digest, Size: r.Size, Manifest: r.Manifest, CreatedAt: r.CreatedAt, Signature: r.Signature, SignedBy: r.SignedBy}
}

// PushFunction checks a bundle, stores it and makes it the newest version of the function that its manifest names. The same bundle
// pushed again is the version that it is already, with created false. A project with a signing key takes no bundle without its
// signature.
func (s *Service) PushFunction(ctx context.Context, by functions.Principal, project uuid.UUID, body io.Reader, signature []byte) (v functions.FunctionVersion, created bool, err error) {
	b, err := bundle.Verify(body, -1)
	if err != nil {
		return v, false, badBundle(err)
	}
	if err := CheckExpression(b.Manifest.Verification.Confirm); err != nil {
		return v, false, err
	}
	// The object comes first: a crash leaves an object without a version, never a version without its object.
	if _, err := s.env.Blobs.PutDigest(ctx, project, b.Digest, bytes.NewReader(b.Archive()), bundle.MaxArchiveBytes); err != nil {
		return v, false, fmt.Errorf("storing the bundle: %w", err)
	}
	manifest, err := json.Marshal(b.Manifest)
	if err != nil {
		return v, false, fmt.Errorf("encoding the manifest: %w", err)
	}
	policy, err := s.tenant.HeuristicsOf(ctx, project)
	if err != nil {
		return v, false, err
	}
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		signer, err := checkSignature(ctx, tx, project, b, signature)
		if err != nil {
			return err
		}
		if _, err := RuntimeOf(ctx, tx, &b.Manifest); err != nil {
			return err
		}
		about := FunctionRow{Name: b.Manifest.Name, Digest: b.Digest, Size: b.Size, Manifest: b.Manifest}.Facts()
		about.Signed = signer > 0
		intent := base.Intent{By: by, Project: project, Kind: guardian.FunctionPublish, Subject: b.Manifest.Name, Facts: guardian.FunctionFacts{Function: about}}
		if err := s.env.Ask(ctx, tx, intent); err != nil {
			return err
		}
		function, _, err := store.Value[uuid.UUID](ctx, tx, sql.LockFunction, base.NewID(), b.Manifest.Name)
		if err != nil {
			return err
		}
		n, err := store.Exec(ctx, tx, sql.AddFunctionVersion, function, b.Digest, b.Size, manifest)
		if err != nil {
			return err
		}
		if signer > 0 {
			if _, err := store.Exec(ctx, tx, sql.SignFunctionVersion, b.Manifest.Name, b.Digest, signature, signer); err != nil {
				return err
			}
		}
		row, _, err := store.One[FunctionRow](ctx, tx, sql.FunctionByDigest, function, b.Digest)
		if err != nil {
			return err
		}
		v, created = row.FunctionVersion(), n == 1
		if !created {
			return nil
		}
		if err := base.Audit(ctx, tx, by.Actor(), "function.push", v.Name, map[string]any{"version": v.Version, "digest": v.Digest, "signed_by": signer}); err != nil {
			return err
		}
		if len(policy.On(functions.OnCode)) == 0 {
			return nil
		}
		return s.env.Enqueue(ctx, tx, stepargs.ScoreCodeArgs{Project: project, Function: v.Name, Version: v.Version})
	})
	return v, created, err
}

// badBundle tells a wrong bundle from a body that broke off: the client must fix both.
func badBundle(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &functions.Error{
		Kind: functions.KindInvalid, Code: "bad_bundle", Message: err.Error(),
		Hint: "mend the folder and push it again; `ostraka function push DIR` makes a bundle that the server accepts", Err: err,
	}
}

// GetFunction returns one version of a function; version 0 is the newest.
func GetFunction(ctx context.Context, tx *store.Tx, name string, version int) (FunctionRow, error) {
	row, found, err := store.One[FunctionRow](ctx, tx, sql.GetFunction, name, version)
	if err != nil {
		return row, err
	}
	if !found && version > 0 {
		return row, functions.NotFound("function version", fmt.Sprintf("%s@%d", name, version))
	}
	if !found {
		return row, functions.NotFound("function", name)
	}
	return row, nil
}

// GetFunction returns one version of a function; version 0 is the newest.
func (s *Service) GetFunction(ctx context.Context, project uuid.UUID, name string, version int) (v functions.FunctionVersion, err error) {
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		row, err := GetFunction(ctx, tx, name, version)
		v = row.FunctionVersion()
		return err
	})
	return v, err
}

// ListFunctions lists the newest version of each function, by name.
func (s *Service) ListFunctions(ctx context.Context, project uuid.UUID, page functions.ListPage) ([]functions.FunctionVersion, error) {
	return s.listVersions(ctx, project, sql.ListFunctions, page.After, base.PageLimit(page))
}

// ListFunctionVersions lists the versions of a function, oldest first. The cursor is a version.
func (s *Service) ListFunctionVersions(ctx context.Context, project uuid.UUID, name string, page functions.ListPage) ([]functions.FunctionVersion, error) {
	after, err := AfterNumber(page)
	if err != nil {
		return nil, err
	}
	list, err := s.listVersions(ctx, project, sql.ListFunctionVersions, name, max(after, 0), base.PageLimit(page))
	if err == nil && len(list) == 0 && page.After == "" {
		return nil, functions.NotFound("function", name)
	}
	return list, err
}

func (s *Service) listVersions(ctx context.Context, project uuid.UUID, q store.Query, args ...any) (list []functions.FunctionVersion, err error) {
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		rows, err := store.Many[FunctionRow](ctx, tx, q, args...)
		list = make([]functions.FunctionVersion, len(rows))
		for i, r := range rows {
			list[i] = r.FunctionVersion()
		}
		return err
	})
	return list, err
}
