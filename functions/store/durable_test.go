package store_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/migrations"
	"github.com/ostraka/ostraka/testenv"
)

// TestOnlyRepeatableCommitsWithoutTheDisk holds what the steps of the queue rely on: River is told from memory that a step is done, so
// that the step's own commit must outlive Postgres.
func TestOnlyRepeatableCommitsWithoutTheDisk(t *testing.T) {
	t.Parallel()
	s, err := store.Connect(t.Context(), testenv.Database(t))
	require.NoError(t, err)
	t.Cleanup(s.Close)
	project := uuid.New()
	require.NoError(t, migrations.CreateProject(t.Context(), s.Pool, project))
	setting := func(tx *store.Tx) (value string) {
		require.NoError(t, tx.QueryRow(t.Context(), "show synchronous_commit").Scan(&value))
		return value
	}
	require.NoError(t, s.Project(t.Context(), project, func(tx *store.Tx) error {
		require.Equal(t, "on", setting(tx))
		return nil
	}))
	require.NoError(t, s.Repeatable(t.Context(), project, func(tx *store.Tx) error {
		require.Equal(t, "off", setting(tx))
		return nil
	}))
}
