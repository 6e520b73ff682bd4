package engine_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	aggregationsql "github.com/ostraka/ostraka/functions/aggregation/sql"
	dispatchsql "github.com/ostraka/ostraka/functions/dispatch/sql"
	"github.com/ostraka/ostraka/functions/store"
	trustsql "github.com/ostraka/ostraka/functions/trust/sql"
)

// TestLookUpsGoByKeyWithoutStatistics: a project's tables have no statistics while its first job runs, and the planner takes a hundred
// thousand shards for a few. A query that asks for each of them whether there is another row must then ask by key all the same.
func TestLookUpsGoByKeyWithoutStatistics(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := uuid.New()
	for _, q := range []struct {
		query store.Query
		args  []any
	}{
		{trustsql.CountFinalShards, []any{id, 0, 65536, id}},
		{trustsql.IncidentShards, []any{id, id, 1000}},
		{dispatchsql.TakeBackShards, []any{id, []int64{1, 2}, id, 1, id}},
		{aggregationsql.ListFrontier, []any{id, 1, 100}},
		{aggregationsql.FrontierSize, []any{id, 1, 100}},
	} {
		var plan []string
		require.NoError(t, w.store.Project(t.Context(), w.project, func(tx *store.Tx) error {
			rows, err := tx.Query(t.Context(), "explain "+q.query.SQL, q.args...)
			if err != nil {
				return err
			}
			plan, err = pgx.CollectRows(rows, pgx.RowTo[string])
			return err
		}))
		text := strings.Join(plan, "\n")
		require.Contains(t, text, "SubPlan", "it looks nothing up")
		require.NotContains(t, text, "Anti Join", "%s", text)
		require.NotContains(t, text[strings.Index(text, "SubPlan"):], "Seq Scan", "%s", text)
	}
}
