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
	if err := inProject(tx, action); err != nil {
		return err
	}
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

// inProject refuses to write a project's record where the server's own log has the same name.
func inProject(tx *store.Tx, action string) error {
	if tx.Server() {
		return fmt.Errorf("a record of %s belongs into a project's log, and the transaction is the server's", action)
	}
	return nil
}

// AuditText is Audit with a detail that is JSON already.
func AuditText(ctx context.Context, tx *store.Tx, actor, action, subject string, detail json.RawMessage) error {
	if err := inProject(tx, action); err != nil {
		return err
	}
	_, err := store.Exec(ctx, tx, sql.AddAudit, actor, action, subject, detail)
	return err
}

// AuditServerText is AuditServer with a detail that is JSON already.
func AuditServerText(ctx context.Context, tx store.DB, actor, action, subject string, detail json.RawMessage) error {
	_, err := store.Exec(ctx, tx, sql.AddServerAudit, actor, action, subject, detail)
	return err
}
