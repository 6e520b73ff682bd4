package engine_test

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions/store"
)

// TestNoCommitIsOverlooked holds what cutOff goes by: books are read wherever rows may have changed for good.
func TestNoCommitIsOverlooked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	const read, lock, write = "select count(*) from jobs -- of all, update or not", "select from jobs for update", "update functions set name = name"
	after := func(statements ...string) func(tx *store.Tx) error {
		return func(tx *store.Tx) error {
			for _, s := range statements {
				if _, err := tx.Exec(ctx, s); err != nil {
					return err
				}
			}
			return nil
		}
	}
	undone := errors.New("undone")
	for name, c := range map[string]struct {
		do   func(tx *store.Tx) error
		want int
	}{
		"nothing":      {after(), 0},
		"what is read": {after(read, lock), 0},
		"what is set":  {after("set local work_mem = '1MB'"), 0},
		"a row":        {after(read, write, read), 1},
		"two rows":     {after(write, write), 1},
		"by a query":   {after("with f as (" + write + " returning id) select * from f"), 1},
		"a table":      {after("create temporary table t (n int) on commit drop"), 1},
		"copied": {func(tx *store.Tx) error {
			if err := after("create temporary table t (n int) on commit drop")(tx); err != nil {
				return err
			}
			_, err := tx.CopyFrom(ctx, pgx.Identifier{"t"}, []string{"n"}, pgx.CopyFromRows([][]any{{1}}))
			return err
		}, 1},
		"undone": {func(tx *store.Tx) error { return errors.Join(after(write)(tx), undone) }, 0},
		"undone behind a savepoint": {func(tx *store.Tx) error {
			return errors.Join(after(write, "savepoint s", write)(tx), after("rollback to s", read)(tx))
		}, 1},
	} {
		before := w.faults.committed.count()
		if err := w.store.Project(ctx, w.project, c.do); !errors.Is(err, undone) {
			require.NoError(t, err, name)
		}
		require.Equal(t, c.want, w.faults.committed.count()-before, name)
	}
	before := w.faults.committed.count()
	w.sql("update ostraka.projects set name = name")
	require.Equal(t, before+1, w.faults.committed.count(), "outside of transactions")
	w.faults.arm(4) // the commit, behind the beginning and two statements
	require.Error(t, w.store.Project(ctx, w.project, after(read, write)))
	require.True(t, w.disarm())
	require.Equal(t, before+1, w.faults.committed.count(), "a commit that Postgres has never seen")
	require.NoError(t, w.store.Project(ctx, w.project, after(read, write)))
	require.Equal(t, before+2, w.faults.committed.count())
}
