package registry

import (
	"context"
	"fmt"
	"io"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/registry/sql"
	"github.com/ostraka/ostraka/functions/store"
)

// registered is the object store together with the rows that say what is in it. The row of an object comes first: then the collector, which
// removes what nothing refers to, sees that somebody has just stored it, or asked whether it is there, which is what all do that are about to
// refer to it.
type registered struct {
	functions.Blobs

	service *Service
}

// WithRows is a store of which every object has a row.
func WithRows(objects functions.Blobs, s *Service) functions.Blobs {
	return &registered{Blobs: objects, service: s}
}

// Put implements Blobs.
func (r *registered) Put(ctx context.Context, project uuid.UUID, in io.Reader, most int64) (digest string, size int64, err error) {
	return r.PutAdmitted(ctx, project, "", in, most, func(digest string, size int64) error { return r.keep(ctx, project, digest, size) })
}

// PutDigest implements Blobs.
func (r *registered) PutDigest(ctx context.Context, project uuid.UUID, digest string, in io.Reader, most int64) (size int64, err error) {
	_, size, err = r.PutAdmitted(ctx, project, digest, in, most, func(digest string, size int64) error { return r.keep(ctx, project, digest, size) })
	return size, err
}

// Adopt implements Blobs.
func (r *registered) Adopt(ctx context.Context, project, upload uuid.UUID, digest string, size int64) error {
	if err := r.keep(ctx, project, digest, size); err != nil {
		return err
	}
	return r.Blobs.Adopt(ctx, project, upload, digest, size)
}

// Stat implements Blobs. Where the collector is about to remove the object it answers afterwards.
func (r *registered) Stat(ctx context.Context, project uuid.UUID, digest string) (int64, error) {
	if err := r.touch(ctx, project, digest); err != nil {
		return 0, err
	}
	return r.Blobs.Stat(ctx, project, digest)
}

// Get implements Blobs: results refer to what was read.
func (r *registered) Get(ctx context.Context, project uuid.UUID, digest string, most int64) ([]byte, error) {
	if err := r.touch(ctx, project, digest); err != nil {
		return nil, err
	}
	return r.Blobs.Get(ctx, project, digest, most)
}

func (r *registered) touch(ctx context.Context, project uuid.UUID, digests ...string) error {
	return r.service.env.Control(ctx, func(tx pgx.Tx) error {
		_, err := store.Exec(ctx, tx, sql.TouchObject, project, digests)
		return err
	})
}

func (r *registered) keep(ctx context.Context, project uuid.UUID, digest string, size int64) error {
	return r.service.env.Control(ctx, func(tx pgx.Tx) error { return r.service.KeepObject(ctx, tx, project, digest, size) })
}

// KeepObject writes the row of an object that is about to be stored, where the project may have it; size is what of it counts.
func (s *Service) KeepObject(ctx context.Context, tx pgx.Tx, project uuid.UUID, digest string, size int64) error {
	grown, _, err := store.Value[int64](ctx, tx, sql.KeepObject, project, digest, size)
	if err != nil {
		return fmt.Errorf("noting an object: %w", err)
	}
	if grown == 0 {
		return nil
	}
	return s.tenant.Within(ctx, tx, project, map[functions.QuotaName]int64{functions.QuotaObjectBytes: grown})
}
