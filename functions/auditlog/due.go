package auditlog

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/functions/auditlog/sql"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/store"
)

const (
	// pruneBatches is how many transactions, of sealBatch records each, prune one log in one run; the next run continues.
	pruneBatches = 100
	// pruneActor is who prunes records that are old enough.
	pruneActor = "server:retention"
)

// PruneOld takes the content out of records that are older than their log keeps it: of the server's own log, and of each project's.
func (s *Service) PruneOld(ctx context.Context) error {
	type log struct {
		ID   uuid.UUID
		Days int
	}
	var logs []log
	err := s.env.Control(ctx, func(tx pgx.Tx) (err error) {
		logs, err = store.Many[log](ctx, tx, sql.ProjectsThatPrune, s.days)
		return err
	})
	if err != nil {
		return fmt.Errorf("listing projects whose logs are pruned: %w", err)
	}
	if s.days > 0 {
		logs = append(logs, log{ID: uuid.Nil, Days: s.days})
	}
	var all error
	for _, l := range logs { // one that cannot be pruned must not keep the others
		if err := s.pruneOld(ctx, l.ID, base.PruneBefore(s.env.Now(), l.Days)); err != nil {
			all = errors.Join(all, fmt.Errorf("pruning old records of the log of %s: %w", logName(l.ID), err))
		}
	}
	return all
}

// pruneOld prunes one log, each batch in the transaction that records it.
func (s *Service) pruneOld(ctx context.Context, project uuid.UUID, before time.Time) error {
	for range pruneBatches {
		var pruned int64
		err := s.env.In(ctx, project, func(tx *store.Tx) (err error) {
			pruned, err = store.Exec(ctx, tx, sql.PruneOldAudit, before, sealBatch)
			if err != nil || pruned == 0 {
				return err
			}
			return auditIn(ctx, tx, project, pruneActor, "audit.prune", map[string]any{"before": before, "records": pruned})
		})
		if err != nil || pruned < sealBatch {
			return err
		}
	}
	return nil
}
