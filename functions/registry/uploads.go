package registry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/blob"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/registry/sql"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/guardian"
)

const (
	// MaxUploadBytes is the largest object that is uploaded past the server: what S3 takes in one request.
	MaxUploadBytes = blob.MaxObject
	// UploadTTL is how long an upload may be begun. Anybody with its URL may upload, so it is short.
	UploadTTL = 15 * time.Minute
	// uploadGrace is how long after that what was uploaded is kept for its completion: an upload that was begun in time may take hours.
	uploadGrace = 24 * time.Hour
	// uploadBatch is how many old uploads are dropped at a time.
	uploadBatch = 500
)

// Upload says how to send an object's bytes. Its URL is a secret.
type Upload struct {
	ID        uuid.UUID         `json:"id"`
	Digest    string            `json:"digest"`
	Size      int64             `json:"size"`
	Stored    bool              `json:"stored" doc:"The project has this object already: there is nothing to upload or to complete."`
	Method    string            `json:"method,omitempty" doc:"PUT."`
	URL       string            `json:"url,omitempty" doc:"Where to send the bytes. Whoever has an absolute URL may upload with it until it expires: treat it as a secret. One without a host is on this server."`
	Headers   map[string]string `json:"headers,omitempty" doc:"Headers to send exactly so, beside Content-Length."`
	NeedsKey  bool              `json:"needs_key,omitempty" doc:"The URL is on this server, which keeps the objects itself: send your key as with every request."`
	ExpiresAt *time.Time        `json:"expires_at,omitempty" doc:"By when the upload must have begun."`
}

type uploadRow struct {
	ID          uuid.UUID
	ProjectID   uuid.UUID
	Digest      string
	Size        int64
	ExpiresAt   time.Time
	CompletedAt *time.Time
}

// CreateUpload grants the upload of one object past the server, where the object store takes such, and else to a URL of the server.
func (s *Service) CreateUpload(ctx context.Context, by functions.Principal, project uuid.UUID, digest string, size int64, idem functions.Idempotency) (u Upload, replayed bool, err error) {
	if err := CheckDigest(digest); err != nil {
		return u, false, err
	}
	if size < 0 || size > MaxUploadBytes {
		return u, false, &functions.Error{Kind: functions.KindTooLarge, Code: "object_too_large", Message: fmt.Sprintf("the object has %d bytes, at most %d are possible", size, int64(MaxUploadBytes)), Hint: "split the data into several objects"}
	}
	have, err := s.env.Blobs.Stat(ctx, project, digest)
	if err == nil && have == size {
		return Upload{Digest: digest, Size: size, Stored: true}, false, nil
	}
	if err != nil && !errors.Is(err, blob.ErrNotFound) {
		return u, false, err
	}
	row, replayed, err := s.keepUpload(ctx, by, project, digest, size, idem)
	if err != nil {
		return u, false, err
	}
	u, err = s.grant(ctx, row)
	return u, replayed, err
}

// keepUpload makes the row of an upload, or renews that of the same request.
func (s *Service) keepUpload(ctx context.Context, by functions.Principal, project uuid.UUID, digest string, size int64, idem functions.Idempotency) (row uploadRow, replayed bool, err error) {
	err = s.env.Control(ctx, func(tx pgx.Tx) error {
		var id uuid.UUID
		if id, replayed, err = base.Remember(ctx, tx, project, "create-upload", idem, base.NewID()); err != nil {
			return err
		}
		if !replayed {
			if err := s.env.AskControl(ctx, tx, uploadIntent(by, project, guardian.File{Digest: digest, Bytes: size})); err != nil {
				return err
			}
			if err := s.KeepObject(ctx, tx, project, digest, size); err != nil {
				return err
			}
			if _, err := store.Exec(ctx, tx, sql.AddUpload, id, project, digest, size, by.Actor(), UploadTTL); err != nil {
				return err
			}
			if err := s.tenant.Within(ctx, tx, project, map[functions.QuotaName]int64{functions.QuotaOpenUploads: 1}); err != nil {
				return err
			}

		}
		var found bool
		if row, found, err = store.One[uploadRow](ctx, tx, sql.RenewUpload, id, project, UploadTTL); err != nil || !found {
			return base.OrNotFound(err, "upload", id)
		}
		return nil
	})
	return row, replayed, err
}

func (s *Service) grant(ctx context.Context, row uploadRow) (Upload, error) {
	u := Upload{ID: row.ID, Digest: row.Digest, Size: row.Size, Method: "PUT", ExpiresAt: &row.ExpiresAt}
	g, err := s.env.Blobs.GrantUpload(ctx, row.ProjectID, row.ID, row.Digest, row.Size, UploadTTL)
	switch {
	case errors.Is(err, blob.ErrNoDirectUpload):
		u.URL, u.NeedsKey = fmt.Sprintf("/v1/projects/%s/uploads/%s/content", row.ProjectID, row.ID), true
		u.Headers = map[string]string{"Content-Type": "application/octet-stream"}
	case err != nil:
		return Upload{}, err
	default:
		u.URL, u.Headers = g.URL, g.Headers
	}
	return u, nil
}

func (s *Service) getUpload(ctx context.Context, project, id uuid.UUID) (row uploadRow, err error) {
	err = s.env.Control(ctx, func(tx pgx.Tx) error {
		var found bool
		row, found, err = store.One[uploadRow](ctx, tx, sql.GetUpload, id, project)
		if err == nil && !found {
			return base.OrNotFound(nil, "upload", id)
		}
		return err
	})
	return row, err
}

// ReceiveUpload takes the bytes of an upload that goes to the server itself.
func (s *Service) ReceiveUpload(ctx context.Context, project, id uuid.UUID, r io.Reader) (functions.Object, error) {
	row, err := s.getUpload(ctx, project, id)
	if err != nil {
		return functions.Object{}, err
	}
	if time.Now().After(row.ExpiresAt) {
		return functions.Object{}, functions.NotFound("upload", id.String())
	}
	return s.putObject(ctx, project, row.Digest, r, row.Size)
}

// CompleteUpload checks what was uploaded and makes it an object of the project. Completing again is harmless.
func (s *Service) CompleteUpload(ctx context.Context, project, id uuid.UUID) (functions.Object, error) {
	row, err := s.getUpload(ctx, project, id)
	if err != nil {
		return functions.Object{}, err
	}
	o := functions.Object{Digest: row.Digest, Size: row.Size}
	if err := s.adopt(ctx, row); err != nil {
		return functions.Object{}, err
	}
	if row.CompletedAt != nil {
		return o, nil
	}
	return o, s.env.Control(ctx, func(tx pgx.Tx) error {
		_, err := store.Exec(ctx, tx, sql.CompleteUpload, id)
		return err
	})
}

// adopt moves the bytes into their place; they are there already where this was cut off before, or where somebody else stored them.
func (s *Service) adopt(ctx context.Context, row uploadRow) error {
	size, err := s.env.Blobs.Stat(ctx, row.ProjectID, row.Digest)
	switch {
	case err == nil && size == row.Size:
		return s.env.Blobs.DropUpload(ctx, row.ProjectID, row.ID)
	case err != nil && !errors.Is(err, blob.ErrNotFound):
		return err
	}
	err = s.env.Blobs.Adopt(ctx, row.ProjectID, row.ID, row.Digest, row.Size)
	if errors.Is(err, blob.ErrNotFound) || errors.Is(err, blob.ErrNoDirectUpload) {
		return &functions.Error{Kind: functions.KindConflict, Code: "upload_missing", Message: "nothing was uploaded to the URL that was granted", Hint: "send the bytes there, or ask for another upload where it has expired", Err: err}
	}
	return ObjectError(err, row.Digest)
}

// DropUploads removes what was uploaded and never completed, and forgets uploads of long ago.
func (s *Service) DropUploads(ctx context.Context) error {
	for {
		var old []uploadRow
		err := s.env.Control(ctx, func(tx pgx.Tx) (err error) {
			old, err = store.Many[uploadRow](ctx, tx, sql.OldUploads, uploadGrace, uploadBatch)
			return err
		})
		if err != nil {
			return fmt.Errorf("looking for uploads that were never completed: %w", err)
		}
		for _, row := range old {
			if err := s.dropUpload(ctx, row); err != nil {
				return fmt.Errorf("dropping upload %s: %w", row.ID, err)
			}
		}
		if len(old) < uploadBatch {
			return nil
		}
	}
}

func (s *Service) dropUpload(ctx context.Context, row uploadRow) error {
	if row.CompletedAt == nil {
		if err := s.env.Blobs.DropUpload(ctx, row.ProjectID, row.ID); err != nil {
			return err
		}
	}
	return s.env.Control(ctx, func(tx pgx.Tx) error {
		_, err := store.Exec(ctx, tx, sql.ForgetUpload, row.ID)
		return err
	})
}
