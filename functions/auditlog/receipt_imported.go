package auditlog

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	auditlog "github.com/ostraka/ostraka/audit"
	"github.com/ostraka/ostraka/functions/auditlog/sql"
	"github.com/ostraka/ostraka/functions/store"
)

// importedRow is a receipt that another project's log proves.
type importedRow struct {
	Receipt  string
	AskedBy  string
	AskedAt  time.Time
	Accepted int64
}

// importedReceipt says of the receipt of an imported job that it is made: it was before the job came here.
func importedReceipt(ctx context.Context, tx *store.Tx, job uuid.UUID) (JobReceipt, error) {
	row, found, err := store.One[importedRow](ctx, tx, sql.ImportedReceipt, job)
	if err == nil && !found {
		err = ErrReceiptNotMade
	}
	return JobReceipt{Job: job, State: ReceiptMade, Done: row.Accepted, Shards: row.Accepted, AskedBy: row.AskedBy, AskedAt: row.AskedAt, MadeAt: &row.AskedAt}, err
}

// importedText is the receipt of an imported job as it came; no text: the job ran here, or came without.
func importedText(ctx context.Context, tx *store.Tx, job uuid.UUID) (first receiptFirst, err error) {
	row, found, err := store.One[importedRow](ctx, tx, sql.ImportedReceipt, job)
	if err != nil || !found {
		return first, err
	}
	text := bytes.TrimSpace([]byte(row.Receipt))
	r, err := auditlog.OpenReceipt(text, "")
	if err != nil {
		return first, fmt.Errorf("reading the receipt of imported job %s: %w", job, err)
	}
	return receiptFirst{text: text, draws: r.Statement.Draws != nil, signed: r.Statement.Signed != nil}, nil
}
