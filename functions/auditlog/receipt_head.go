package auditlog

import (
	"context"
	"strings"

	"github.com/google/uuid"

	auditlog "github.com/ostraka/ostraka/audit"
	"github.com/ostraka/ostraka/functions/auditlog/sql"
	"github.com/ostraka/ostraka/functions/store"
)

// witnessedHead is a head of a log with the cosignatures of agents, and their keys in the same order.
type witnessedHead struct {
	size       int64
	checkpoint string
	keys       []string
}

// witnessed is the head that proves a record: of those that agents have co-signed the one with the most owners behind it, else the newest.
func witnessed(ctx context.Context, tx *store.Tx, project uuid.UUID, head AuditHead, leaf int64) (witnessedHead, error) {
	newest := witnessedHead{size: head.Size, checkpoint: head.Checkpoint}
	type row struct {
		AgentID uuid.UUID
		Size    int64
		Note    string
		Line    string
		Key     []byte
	}
	var rows []row
	err := asServer(ctx, tx, func() (err error) {
		rows, err = store.Many[row](ctx, tx, sql.ReceiptWitnesses, project, leaf, head.Size, auditlog.MaxReceiptWitnesses)
		return err
	})
	if err != nil || len(rows) == 0 {
		return newest, err
	}
	checkpoint, found, err := store.Value[string](ctx, tx, sql.CheckpointOfSize, rows[0].Size)
	if err != nil || !found {
		return newest, err
	}
	by, lines := witnessedHead{size: rows[0].Size}, []string{}
	for _, r := range rows {
		key, err := auditlog.Witness(r.AgentID.String(), r.Key)
		if err != nil {
			return newest, err
		}
		// One of a head of before, of another epoch or of a key that was replaced meanwhile is left out.
		if _, bad := auditlog.OpenCosigned([]byte(r.Note), head.Key, key); bad != nil || !strings.HasPrefix(r.Note, checkpoint) {
			continue
		}
		by.keys, lines = append(by.keys, key), append(lines, r.Line)
	}
	by.checkpoint = auditlog.WithCosignatures(checkpoint, lines...)
	if len(lines) == 0 {
		return newest, nil
	}
	return by, nil
}
