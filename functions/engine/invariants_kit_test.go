package engine_test

import (
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/testenv/books"
)

// check finds books that are not in order.
func (w *world) check(job uuid.UUID) {
	w.t.Helper()
	for what, sql := range books.Questions() {
		var found []map[string]any
		require.NoError(w.t, w.store.Project(w.t.Context(), w.project, func(tx *store.Tx) error {
			rows, err := tx.Query(w.t.Context(), sql, job)
			if err != nil {
				return err
			}
			found, err = pgx.CollectRows(rows, pgx.RowToMap)
			return err
		}))
		require.Empty(w.t, found, what)
	}
}
