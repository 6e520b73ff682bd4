package auditlog

import (
	"context"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions/auditlog/sql"
	"github.com/ostraka/ostraka/functions/store"
)

// ReceiptText is the receipt of a job without the lines of its shards; empty where none was asked for.
func (s *Service) ReceiptText(ctx context.Context, project, job uuid.UUID) (string, error) {
	var asked bool
	err := s.env.Project(ctx, project, func(tx *store.Tx) (err error) {
		_, asked, err = store.One[receiptRow](ctx, tx, sql.GetReceipt, job)
		return err
	})
	if err != nil || !asked {
		return "", err
	}
	first, err := s.receiptText(ctx, project, job)
	return string(first.text), err
}
