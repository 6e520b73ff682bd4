package trust

import (
	"context"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/tenant"
	"github.com/ostraka/ostraka/functions/trust/sql"
)

// LongWallSeconds is the wall limit above which a function's shards wait in a lane of their own: a slot of the others is free again after
// RecheckSlice and as long.
const LongWallSeconds = 300

// HeldFunctions are what switches hold of a project, a list for each column.
type HeldFunctions struct {
	Functions []string
	Versions  []int
	Rules     int64                // the version of the operators' rules of the guardian: jobs that were held by others are not held any more
	Budget    tenant.RecheckBudget // of the project
}

// HeldOf reads them, and what the project may spend; the transaction is the project's again afterwards.
func (s *Service) HeldOf(ctx context.Context, tx *store.Tx, project uuid.UUID) (h HeldFunctions, err error) {
	type row struct {
		Function string
		Version  int
	}
	server, err := tx.AsServer(ctx)
	if err != nil {
		return h, err
	}
	rows, err := store.Many[row](ctx, server, sql.HeldFunctions, project)
	for _, r := range rows {
		h.Functions, h.Versions = append(h.Functions, r.Function), append(h.Versions, r.Version)
	}
	if err != nil {
		return h, err
	}
	if h.Rules, _, err = store.Value[int64](ctx, server, sql.OperatorRules); err != nil {
		return h, err
	}
	if h.Budget, err = s.tenant.ReadRecheckBudget(ctx, server, project); err != nil {
		return h, err
	}
	return h, tx.AsProject(ctx)
}

// Cover says whether the function is held.
func (h HeldFunctions) Cover(f registry.FunctionRow) bool {
	for i, name := range h.Functions {
		if name == "" || name == f.Name && (h.Versions[i] == 0 || h.Versions[i] == f.Version) {
			return true
		}
	}
	return false
}

// mendRechecks makes batches where some are missing: a switch was put off, say, or a rule of the guardian is gone.
func (s *Service) mendRechecks(ctx context.Context, project uuid.UUID) error {
	return s.env.Project(ctx, project, func(tx *store.Tx) error {
		return s.LetNextBegin(ctx, tx, project, func(HeldFunctions) error { return nil })
	})
}

// LetNextBegin does something to the project's rechecks behind their gate, and enqueues the batches that may begin then. It is the last
// thing that a transaction does.
func (s *Service) LetNextBegin(ctx context.Context, tx *store.Tx, project uuid.UUID, gated func(HeldFunctions) error) error {
	held, err := s.HeldOf(ctx, tx, project)
	if err != nil {
		return err
	}
	if _, err := store.Exec(ctx, tx, store.GateRechecks); err != nil {
		return err
	}
	if err := gated(held); err != nil {
		return err
	}
	steps, err := NextBatch(ctx, tx, project, held)
	if err != nil {
		return err
	}
	return s.env.Enqueue(ctx, tx, steps...)
}
