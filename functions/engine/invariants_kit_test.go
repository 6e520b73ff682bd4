package engine_test

import (
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/books"
	"github.com/ostraka/ostraka/functions/store"
)

// check finds books that are not in order. It reads them in one transaction: it runs after each cut.
func (w *world) check(job uuid.UUID) {
	w.t.Helper()
	wrong := map[string][]map[string]any{}
	require.NoError(w.t, w.store.Project(w.t.Context(), w.project, func(tx *store.Tx) error {
		for what, sql := range books.Questions() {
			rows, err := tx.Query(w.t.Context(), sql, job)
			if err != nil {
				return err
			}
			found, err := pgx.CollectRows(rows, pgx.RowToMap)
			if err != nil {
				return err
			}
			if len(found) > 0 {
				wrong[what] = found
			}
		}
		return nil
	}))
	require.Empty(w.t, wrong)
}
