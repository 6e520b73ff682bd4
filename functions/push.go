package functions

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/runtime/bundle"
)

// functionRow is a version of a function as it stands in its tables.
type functionRow struct {
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

// version is the version as its readers see it.
func (r functionRow) version() FunctionVersion {
	return FunctionVersion{Name: r.Name, Version: r.Version, Digest: r.Digest, Size: r.Size, Manifest: r.Manifest, CreatedAt: r.CreatedAt, Signature: r.Signature, SignedBy: r.SignedBy}
}

// PushFunction checks a bundle, stores it and makes it the newest version of the function that its manifest names. The same bundle
// pushed again is the version that it is already, with created false. A project with a signing key takes no bundle without its
// signature.
func (s *Service) PushFunction(ctx context.Context, by Principal, project uuid.UUID, body io.Reader, signature []byte) (v FunctionVersion, created bool, err error) {
	b, err := bundle.Verify(body, -1)
	if err != nil {
		return v, false, badBundle(err)
	}
	if err := checkExpression(b.Manifest.Verification.Confirm); err != nil {
		return v, false, err
	}
	// The object comes first: a crash leaves an object without a version, never a version without its object.
	if _, err := s.blobs.PutDigest(ctx, project, b.Digest, bytes.NewReader(b.Archive()), bundle.MaxArchiveBytes); err != nil {
		return v, false, fmt.Errorf("storing the bundle: %w", err)
	}
	manifest, err := json.Marshal(b.Manifest)
	if err != nil {
		return v, false, fmt.Errorf("encoding the manifest: %w", err)
	}
	policy, err := s.heuristicsOf(ctx, project)
	if err != nil {
		return v, false, err
	}
	err = s.project(ctx, project, func(tx *store.Tx) error {
		signer, err := checkSignature(ctx, tx, project, b, signature)
		if err != nil {
			return err
		}
		function, _, err := store.Value[uuid.UUID](ctx, tx, store.LockFunction, newID(), b.Manifest.Name)
		if err != nil {
			return err
		}
		n, err := store.Exec(ctx, tx, store.AddFunctionVersion, function, b.Digest, b.Size, manifest)
		if err != nil {
			return err
		}
		if signer > 0 {
			if _, err := store.Exec(ctx, tx, store.SignFunctionVersion, b.Manifest.Name, b.Digest, signature, signer); err != nil {
				return err
			}
		}
		row, _, err := store.One[functionRow](ctx, tx, store.FunctionByDigest, function, b.Digest)
		if err != nil {
			return err
		}
		v, created = row.version(), n == 1
		if !created {
			return nil
		}
		if err := audit(ctx, tx, by.Actor(), "function.push", v.Name, map[string]any{"version": v.Version, "digest": v.Digest, "signed_by": signer}); err != nil {
			return err
		}
		if len(policy.on(OnCode)) == 0 {
			return nil
		}
		return s.enqueue(ctx, tx, ScoreCodeArgs{Project: project, Function: v.Name, Version: v.Version})
	})
	return v, created, err
}

// badBundle tells a bundle that is wrong from a body that broke off: both are the client's to mend.
func badBundle(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &Error{
		Kind: KindInvalid, Code: "bad_bundle", Message: err.Error(),
		Hint: "mend the folder and push it again; `ostraka function push DIR` makes a bundle that the server accepts", Err: err,
	}
}

// getFunction returns one version of a function; version 0 is the newest.
func getFunction(ctx context.Context, tx *store.Tx, name string, version int) (functionRow, error) {
	row, found, err := store.One[functionRow](ctx, tx, store.GetFunction, name, version)
	if err != nil {
		return row, err
	}
	if !found && version > 0 {
		return row, NotFound("function version", fmt.Sprintf("%s@%d", name, version))
	}
	if !found {
		return row, NotFound("function", name)
	}
	return row, nil
}

// GetFunction returns one version of a function; version 0 is the newest.
func (s *Service) GetFunction(ctx context.Context, project uuid.UUID, name string, version int) (v FunctionVersion, err error) {
	err = s.project(ctx, project, func(tx *store.Tx) error {
		row, err := getFunction(ctx, tx, name, version)
		v = row.version()
		return err
	})
	return v, err
}

// ListFunctions lists the newest version of each function, by name.
func (s *Service) ListFunctions(ctx context.Context, project uuid.UUID, page ListPage) ([]FunctionVersion, error) {
	return s.listVersions(ctx, project, store.ListFunctions, page.After, limit(page))
}

// ListFunctionVersions lists the versions of a function, oldest first. The cursor is a version.
func (s *Service) ListFunctionVersions(ctx context.Context, project uuid.UUID, name string, page ListPage) ([]FunctionVersion, error) {
	after, err := afterNumber(page)
	if err != nil {
		return nil, err
	}
	list, err := s.listVersions(ctx, project, store.ListFunctionVersions, name, max(after, 0), limit(page))
	if err == nil && len(list) == 0 && page.After == "" {
		return nil, NotFound("function", name)
	}
	return list, err
}

func (s *Service) listVersions(ctx context.Context, project uuid.UUID, q store.Query, args ...any) (list []FunctionVersion, err error) {
	err = s.project(ctx, project, func(tx *store.Tx) error {
		rows, err := store.Many[functionRow](ctx, tx, q, args...)
		list = make([]FunctionVersion, len(rows))
		for i, r := range rows {
			list[i] = r.version()
		}
		return err
	})
	return list, err
}
