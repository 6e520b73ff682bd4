package migrations_test

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/migrations"
	"github.com/ostraka/ostraka/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

func connect(t *testing.T) *pgxpool.Pool {
	t.Helper()
	s, err := store.Connect(t.Context(), testenv.Database(t))
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s.Pool
}

var quiet = slog.New(slog.DiscardHandler)

func addProject(t *testing.T, pool *pgxpool.Pool) uuid.UUID {
	t.Helper()
	id := uuid.New()
	require.NoError(t, migrations.CreateProject(t.Context(), pool, id))
	_, err := pool.Exec(t.Context(), "insert into ostraka.projects (id, name) values ($1, $2)", id, fmt.Sprintf("p-%.8s", id))
	require.NoError(t, err)
	return id
}

func TestUp(t *testing.T) {
	t.Parallel()
	pool := connect(t)
	status, err := migrations.Status(t.Context(), pool)
	require.NoError(t, err)
	require.Equal(t, []migrations.Schema{{Name: "ostraka", Latest: latest(t, "control")}, {Name: "river", Latest: 8}}, status)
	require.True(t, migrations.Pending(status))

	require.NoError(t, migrations.Up(t.Context(), pool, quiet))
	require.NoError(t, migrations.Up(t.Context(), pool, quiet), "again")
	project := addProject(t, pool)
	require.NoError(t, migrations.CreateProject(t.Context(), pool, project), "after a crash it is run again")
	require.NoError(t, migrations.Up(t.Context(), pool, quiet))
	status, err = migrations.Status(t.Context(), pool)
	require.NoError(t, err)
	require.Equal(t, []migrations.Schema{
		{Name: "ostraka", Version: latest(t, "control"), Latest: latest(t, "control")},
		{Name: "river", Version: 8, Latest: 8},
		{Name: migrations.ProjectSchema(project), Version: latest(t, "project"), Latest: latest(t, "project")},
	}, status)
	require.False(t, migrations.Pending(status))

	// River's schema counts too, and one that a newer program has migrated is no error.
	_, err = pool.Exec(t.Context(), "insert into river.river_migration (line, version) values ('main', 9)")
	require.NoError(t, err)
	status, err = migrations.Status(t.Context(), pool)
	require.NoError(t, err)
	require.False(t, migrations.Pending(status))
	_, err = pool.Exec(t.Context(), "delete from river.river_migration where version >= 8")
	require.NoError(t, err)
	status, err = migrations.Status(t.Context(), pool)
	require.NoError(t, err)
	require.True(t, migrations.Pending(status))

	var tables int
	require.NoError(t, pool.QueryRow(t.Context(), "select count(*) from pg_tables where schemaname = $1 and tableowner <> $1", migrations.ProjectSchema(project)).Scan(&tables))
	require.Zero(t, tables, "the project's role owns its tables")
	require.NoError(t, pool.QueryRow(t.Context(), "select count(*) from pg_tables where schemaname = 'public'").Scan(&tables))
	require.Zero(t, tables, "nothing lands outside the schemas")
	require.NoError(t, pool.QueryRow(t.Context(), "select count(*) from river.river_job").Scan(&tables))
}

// latest is the number of the last migration in a folder.
func latest(t *testing.T, folder string) int {
	t.Helper()
	files, err := filepath.Glob(folder + "/*.sql")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	return len(files)
}

func dropTables(t *testing.T, pool *pgxpool.Pool, schema, except string) {
	t.Helper()
	rows, err := pool.Query(t.Context(), "select tablename from pg_tables where schemaname = $1 and tablename <> $2", schema, except)
	require.NoError(t, err)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.NotEmpty(t, tables)
	for i := range tables {
		tables[i] = pgx.Identifier{schema, tables[i]}.Sanitize()
	}
	_, err = pool.Exec(t.Context(), "drop table "+strings.Join(tables, ", ")+" cascade")
	require.NoError(t, err)
}

// TestUpCarriesEveryProject has a project that is behind.
func TestUpCarriesEveryProject(t *testing.T) {
	t.Parallel()
	pool := connect(t)
	require.NoError(t, migrations.Up(t.Context(), pool, quiet))
	old, fresh := addProject(t, pool), addProject(t, pool)
	name := migrations.ProjectSchema(old)
	dropTables(t, pool, name, "schema_version")
	_, err := pool.Exec(t.Context(), "update "+name+".schema_version set version = 0")
	require.NoError(t, err)
	status, err := migrations.Status(t.Context(), pool)
	require.NoError(t, err)
	require.True(t, migrations.Pending(status))
	require.NoError(t, migrations.Up(t.Context(), pool, quiet))
	status, err = migrations.Status(t.Context(), pool)
	require.NoError(t, err)
	require.False(t, migrations.Pending(status), "%+v", status)
	for _, id := range []uuid.UUID{old, fresh} {
		var owner string
		require.NoError(t, pool.QueryRow(t.Context(), "select tableowner from pg_tables where schemaname = $1 and tablename = 'jobs'", migrations.ProjectSchema(id)).Scan(&owner))
		require.Equal(t, migrations.ProjectSchema(id), owner)
	}
}

// TestServersThatStartAtOnce migrates an empty database from four servers.
func TestServersThatStartAtOnce(t *testing.T) {
	t.Parallel()
	url := testenv.Database(t)
	var all sync.WaitGroup
	for i := range 4 {
		s, err := store.Connect(t.Context(), url)
		require.NoError(t, err)
		t.Cleanup(s.Close)
		all.Go(func() {
			if err := migrations.Up(context.Background(), s.Pool, quiet); err != nil {
				t.Errorf("server %d: %v", i, err)
			}
			if err := migrations.CreateProject(context.Background(), s.Pool, uuid.New()); err != nil {
				t.Errorf("server %d: %v", i, err)
			}
		})
	}
	all.Wait()
}

// TestAServerThatWaitsGivesUp cancels a server that waits for another one's migrations.
func TestAServerThatWaitsGivesUp(t *testing.T) {
	t.Parallel()
	pool := connect(t)
	conn, err := pool.Acquire(t.Context())
	require.NoError(t, err)
	defer conn.Release()
	_, err = conn.Exec(t.Context(), "select pg_advisory_lock($1)", int64(0x6f737472616b61))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error, 1)
	go func() { result <- migrations.Up(ctx, pool, quiet) }()
	testenv.Eventually(t, func() bool {
		var n int
		require.NoError(t, pool.QueryRow(t.Context(), "select count(*) from pg_locks where locktype = 'advisory' and not granted").Scan(&n))
		return n > 0
	}, "it waits")
	cancel()
	require.ErrorIs(t, <-result, context.Canceled)
}
