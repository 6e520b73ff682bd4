package base

import (
	"bytes"
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base/sql"
	"github.com/ostraka/ostraka/functions/store"
)

// IdempotencyTTL is how long an Idempotency-Key is remembered.
const IdempotencyTTL = 7 * 24 * time.Hour

// Remember ties an Idempotency-Key to the resource that the request is about to make. When the key is known already it returns
// what it made then, and nothing must be made now. It runs first in the server part of the transaction that makes the resource: a
// second request with the key waits here until that transaction has ended.
func Remember(ctx context.Context, control store.DB, scope uuid.UUID, operation string, idem functions.Idempotency, resource uuid.UUID) (existing uuid.UUID, replayed bool, err error) {
	if idem.Key == "" {
		return resource, false, nil
	}
	type row struct {
		RequestSHA256 []byte `db:"request_sha256"`
		ResourceID    uuid.UUID
		Made          bool
	}
	got, _, err := store.One[row](ctx, control, sql.RememberIdempotency, scope, operation, idem.Key, idem.RequestDigest[:], resource)
	if err != nil {
		return uuid.Nil, false, err
	}
	if !bytes.Equal(got.RequestSHA256, idem.RequestDigest[:]) {
		return uuid.Nil, false, functions.ErrIdempotencyMismatch
	}
	return got.ResourceID, !got.Made, nil
}

// RememberInProject is Remember in a transaction on a project, which has the role afterwards that it had. It comes before all that could refuse
// the request again for what it has made: names, limits, states, and the guardian's rules, which may have changed since.
func RememberInProject(ctx context.Context, tx *store.Tx, scope uuid.UUID, operation string, idem functions.Idempotency, resource uuid.UUID) (existing uuid.UUID, replayed bool, err error) {
	if idem.Key == "" {
		return resource, false, nil
	}
	was := tx.Server()
	server, err := tx.AsServer(ctx)
	if err != nil {
		return uuid.Nil, false, err
	}
	if existing, replayed, err = Remember(ctx, server, scope, operation, idem, resource); err != nil {
		return uuid.Nil, false, err
	}
	return existing, replayed, tx.SetServer(ctx, was)
}
