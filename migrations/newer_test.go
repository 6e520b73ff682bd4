package migrations_test

import (
	"bytes"
	"log/slog"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/migrations"
)

// TestADatabaseThatANewerProgramHasMigrated is what a server meets that is started again in the middle of an upgrade.
func TestADatabaseThatANewerProgramHasMigrated(t *testing.T) {
	t.Parallel()
	ctx, pool := t.Context(), connect(t)
	require.NoError(t, migrations.Up(ctx, pool, quiet))
	project := addProject(t, pool)
	name := migrations.ProjectSchema(project)
	require.NoError(t, migrations.Up(ctx, pool, quiet))
	for _, q := range []string{
		"update ostraka.schema_version set version = version + 1",
		"update " + name + ".schema_version set version = version + 1",
		"update ostraka.schema_needs set newest = newest + 1",
		"insert into river.river_migration (line, version) values ('main', 99)",
	} {
		_, err := pool.Exec(ctx, q)
		require.NoError(t, err)
	}
	var log bytes.Buffer
	require.NoError(t, migrations.Up(ctx, pool, slog.New(slog.NewTextHandler(&log, nil))), "it serves")
	require.Contains(t, log.String(), "a newer ostraka has migrated the database")
	require.NoError(t, migrations.Fits(ctx, pool))
	status, err := migrations.Status(ctx, pool)
	require.NoError(t, err)
	require.False(t, migrations.Pending(status))
	for _, s := range status {
		require.True(t, s.Newer(), "%+v", s)
	}
	var newer *migrations.TooNewError
	require.ErrorAs(t, migrations.CreateProject(ctx, pool, uuid.New()), &newer, "newer servers would find it behind")

	// At what this program knows it may work, and one past it it may not.
	knows := latest(t, "project")
	needs := func(n int) {
		_, err := pool.Exec(ctx, "update ostraka.schema_needs set oldest = $1 where kind = 'project'", n)
		require.NoError(t, err)
	}
	needs(knows)
	require.NoError(t, migrations.Up(ctx, pool, quiet))
	needs(knows + 1)
	require.ErrorAs(t, migrations.Up(ctx, pool, quiet), &newer)
	require.Equal(t, &migrations.TooNewError{Kind: "project", Needs: knows + 1, Knows: knows}, newer)
	require.ErrorAs(t, migrations.Fits(ctx, pool), &newer)
	status, err = migrations.Status(ctx, pool)
	require.NoError(t, err)
	require.Equal(t, knows+1, status[2].Needs)
}
