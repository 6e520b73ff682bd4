package engine_test

import (
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/books"
	"github.com/ostraka/ostraka/functions/store"
)

// checkChanges is check, unless nothing was committed since the books of this job were read: most cuts roll everything back, and the books
// are what they were.
func (w *world) checkChanges(job uuid.UUID) {
	w.t.Helper()
	if now := w.faults.committed.count(); w.checked != (checked{job, now}) {
		w.check(job)
	}
}

// checked is whose books were read last, and how often anything had been committed before.
type checked struct {
	job     uuid.UUID
	commits int
}

// check finds books that are not in order. It reads them in one transaction, and asks all questions at once.
func (w *world) check(job uuid.UUID) {
	w.t.Helper()
	w.checked = checked{job, w.faults.committed.count()}
	wrong := map[string][]map[string]any{}
	var questions pgx.Batch
	for what, sql := range books.Questions() {
		questions.Queue(sql, job).Query(func(rows pgx.Rows) error {
			found, err := pgx.CollectRows(rows, pgx.RowToMap)
			if len(found) > 0 {
				wrong[what] = found
			}
			return err
		})
	}
	require.NoError(w.t, w.store.Project(w.t.Context(), w.project, func(tx *store.Tx) error {
		return tx.SendBatch(w.t.Context(), &questions).Close()
	}))
	require.Empty(w.t, wrong)
}
