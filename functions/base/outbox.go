package base

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base/sql"
	"github.com/ostraka/ostraka/functions/store"
)

// AnnounceJob leaves word for the project's webhooks that a job has ended, in the transaction that ends it. The transaction has the role
// afterwards that it had.
func AnnounceJob(ctx context.Context, tx *store.Tx, job uuid.UUID, kind functions.WebhookKind) error {
	return announce(ctx, tx, sql.AnnounceJob, NewID(), kind, job, tx.Project())
}

// Announce is AnnounceJob for what is not about the end of a job; job is the one that it belongs to, if it does.
func Announce(ctx context.Context, tx *store.Tx, kind functions.WebhookKind, job *uuid.UUID, data map[string]any) error {
	text, err := json.Marshal(data)
	if err != nil {
		return fmt.Errorf("encoding the event %s for webhooks: %w", kind, err)
	}
	return announce(ctx, tx, sql.Announce, NewID(), kind, job, text)
}

// announce writes an event where a webhook wants it, and has the server look after it.
func announce(ctx context.Context, tx *store.Tx, q store.Query, args ...any) error {
	n, err := store.Exec(ctx, tx, q, args...)
	if err != nil || n == 0 {
		return err
	}
	return LookAtWebhooks(ctx, tx, 0)
}

// LookAtWebhooks has the server look at the events and deliveries of the transaction's project so long from now. The transaction has the
// role afterwards that it had.
func LookAtWebhooks(ctx context.Context, tx *store.Tx, in time.Duration) error {
	was := tx.Server()
	server, err := tx.AsServer(ctx)
	if err != nil {
		return err
	}
	if _, err := store.Exec(ctx, server, sql.LookAtWebhooks, tx.Project(), in); err != nil {
		return err
	}
	return tx.SetServer(ctx, was)
}
