package base

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/ostraka/ostraka/functions/base/sql"
	"github.com/ostraka/ostraka/functions/store"
)

// Audit writes one record of a project's audit log, in the transaction of what it records.
func Audit(ctx context.Context, tx *store.Tx, actor, action, subject string, detail map[string]any) error {
	return writeAudit(ctx, tx, sql.AddAudit, actor, action, subject, detail)
}

// AuditServer writes one record of the installation's audit log. tx is on the control schema.
func AuditServer(ctx context.Context, tx store.DB, actor, action, subject string, detail map[string]any) error {
	return writeAudit(ctx, tx, sql.AddServerAudit, actor, action, subject, detail)
}

func writeAudit(ctx context.Context, tx store.DB, q store.Query, actor, action, subject string, detail map[string]any) error {
	if detail == nil {
		detail = map[string]any{}
	}
	text, err := json.Marshal(detail)
	if err != nil {
		return fmt.Errorf("encoding the audit record of %s: %w", action, err)
	}
	_, err = store.Exec(ctx, tx, q, actor, action, subject, text)
	return err
}

// AuditText is Audit with a detail that is JSON already.
func AuditText(ctx context.Context, tx store.DB, actor, action, subject string, detail json.RawMessage) error {
	_, err := store.Exec(ctx, tx, sql.AddAudit, actor, action, subject, detail)
	return err
}

// AuditServerText is AuditServer with a detail that is JSON already.
func AuditServerText(ctx context.Context, tx store.DB, actor, action, subject string, detail json.RawMessage) error {
	_, err := store.Exec(ctx, tx, sql.AddServerAudit, actor, action, subject, detail)
	return err
}
