package auditlog

import (
	"context"
	"iter"

	"github.com/google/uuid"

	auditlog "github.com/ostraka/ostraka/audit"
	"github.com/ostraka/ostraka/functions/auditlog/sql"
	"github.com/ostraka/ostraka/functions/base"
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

// writeReceipt writes the receipt of a job, and, if they are wanted, the lines of its shards after it.
func (s *Service) writeReceipt(ctx context.Context, project, job uuid.UUID, shards bool, write func([]byte) error) error {
	first, err := s.receiptText(ctx, project, job)
	if err != nil {
		return err
	}
	if err := write(append(first.text, '\n')); err != nil || !shards {
		return err
	}
	written := int64(0)
	line := func(l auditlog.ShardLine) error {
		if first.signed && written%receiptBatch == 0 {
			if err := s.writeSignatures(ctx, project, job, written/receiptBatch, first.size, write); err != nil {
				return err
			}
		}
		written++
		if !first.draws {
			l.Draw = nil
		}
		line, err := l.Canonical()
		if err != nil {
			return err
		}
		return write(append(line, '\n'))
	}
	for after := int64(-1); ; {
		var lines []auditlog.ShardLine
		var archived bool
		err := s.env.Project(ctx, project, func(tx *store.Tx) (err error) {
			if err := base.NotDeleted(ctx, tx, job); err != nil {
				return err
			}
			if lines, err = receiptShards(ctx, tx, job, after, first.draws); err != nil {
				return err
			}
			archived, err = base.Archived(ctx, tx, job)
			return err
		})
		if err != nil {
			return err
		}
		if archived {
			for l, err := range s.archivedLines(ctx, project, job, after) {
				if err == nil {
					err = line(l)
				}
				if err != nil {
					return err
				}
			}
			return nil
		}
		for _, l := range lines {
			after = l.Shard
			if err := line(l); err != nil {
				return err
			}
		}
		if len(lines) < receiptBatch {
			return nil
		}
	}
}

// receiptFirst is the first line of a receipt.
type receiptFirst struct {
	text   []byte
	size   int64 // of the head that proves it
	draws  bool  // its lines have draws
	signed bool  // what agents have signed stands between them
}

// receiptText is a receipt without the lines of its shards, proven by the head that agents of most owners have co-signed, or by the newest.
func (s *Service) receiptText(ctx context.Context, project, job uuid.UUID) (first receiptFirst, err error) {
	head, err := s.head(ctx, project)
	if err != nil {
		return first, err
	}
	err = s.env.Project(ctx, project, func(tx *store.Tx) error {
		if err := base.NotDeleted(ctx, tx, job); err != nil {
			return err
		}
		if first, err = importedText(ctx, tx, job); err != nil || first.text != nil {
			return err
		}
		row, found, err := store.One[receiptRow](ctx, tx, sql.GetReceipt, job)
		if err != nil {
			return err
		}
		if !found || row.Leaf == nil || *row.Leaf >= head.Size { // sealed since the head was read: asked again, it is there
			return ErrReceiptNotMade
		}
		by, err := witnessed(ctx, tx, project, head, *row.Leaf)
		if err != nil {
			return err
		}
		proof, err := auditlog.Prove(*row.Leaf, by.size, []byte(by.checkpoint), auditNodes(ctx, tx))
		if err != nil {
			return err
		}
		parts := auditlog.ReceiptParts{Statement: []byte(*row.Statement), Record: []byte(*row.Record), Proof: proof, Key: head.Key, Witnesses: by.keys}
		if parts.Commitment, err = row.commitment(ctx, tx, by); err != nil {
			return err
		}
		first.size, first.draws, first.signed = by.size, auditlog.StatesDraws(parts.Statement), auditlog.StatesSigned(parts.Statement)
		first.text, err = auditlog.EncodeReceipt(parts)
		return err
	})
	return first, err
}

// ReceiptBytes yields a receipt, with the lines of its shards if they are wanted, some bytes at a time.
func (s *Service) ReceiptBytes(ctx context.Context, project, job uuid.UUID, shards bool) iter.Seq2[[]byte, error] {
	return written(func(write func([]byte) error) error { return s.writeReceipt(ctx, project, job, shards, write) })
}
