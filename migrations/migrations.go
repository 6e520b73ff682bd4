// Package migrations brings a database up to the schema that this binary expects: the control schema, River's own, and one schema
// and role per project.
package migrations

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"log/slog"
	"path"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/tern/v2/migrate"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

//go:embed control/*.sql project/*.sql
var files embed.FS

// Names of the schemas that are shared by all projects.
const (
	ControlSchema = "ostraka"
	RiverSchema   = "river"
)

// The table that counts a schema's migrations stands in the schema itself.
const versionTable = "schema_version"

// lockKey is the advisory lock that servers which start together queue up on. Any number that nothing else in the database uses.
const lockKey = 0x6f737472616b61 // "ostraka"

// ProjectSchema is the name of a project's schema and of the role that owns it.
func ProjectSchema(project uuid.UUID) string {
	return "project_" + strings.ReplaceAll(project.String(), "-", "")
}

// Schema says how far one schema is migrated.
type Schema struct {
	Name    string `json:"name"`
	Version int    `json:"version"`
	Latest  int    `json:"latest"` // that this program knows
	Needs   int    `json:"needs"`  // that a program must know to work on it
}

// Newer says whether a newer program has migrated the schema.
func (s Schema) Newer() bool { return s.Version > s.Latest }

// Up migrates everything. It is safe to run on several servers at once and to run again. A schema that a newer program has migrated is
// left as it is, where this program may work on it: a server that is started again in the middle of an upgrade must serve.
func Up(ctx context.Context, pool *pgxpool.Pool, log *slog.Logger) error {
	return locked(ctx, pool, func(conn *pgx.Conn) error {
		if err := mayCreateRoles(ctx, conn); err != nil {
			return err
		}
		if err := upControl(ctx, conn, log); err != nil {
			return fmt.Errorf("migrating the control schema: %w", err)
		}
		if err := upRiver(ctx, pool, log); err != nil {
			return fmt.Errorf("migrating River's schema: %w", err)
		}
		projects, err := projectIDs(ctx, conn)
		if err != nil {
			return err
		}
		for _, id := range projects {
			if err := upProject(ctx, conn, id); err != nil {
				return fmt.Errorf("migrating project %s: %w", id, err)
			}
		}
		return reached(ctx, conn)
	})
}

// CreateProject makes a project's role and schema and migrates it. It may be run again after a crash.
func CreateProject(ctx context.Context, pool *pgxpool.Pool, project uuid.UUID) error {
	return locked(ctx, pool, func(conn *pgx.Conn) error {
		if err := mayCreate(ctx, conn); err != nil {
			return err
		}
		if err := createRole(ctx, conn, ProjectSchema(project)); err != nil {
			return err
		}
		return upProject(ctx, conn, project)
	})
}

// mayCreateRoles says at the start what would otherwise fail with the first project.
func mayCreateRoles(ctx context.Context, conn *pgx.Conn) error {
	var name string
	var may bool
	err := conn.QueryRow(ctx, "select rolname, rolsuper or rolcreaterole from pg_roles where rolname = current_user").Scan(&name, &may)
	if err != nil {
		return fmt.Errorf("looking for the database role's rights: %w", err)
	}
	if !may {
		return fmt.Errorf("the database role %q may not create roles, and every project gets one of its own: run `alter role %s createrole` as a superuser", name, pgx.Identifier{name}.Sanitize())
	}
	return nil
}

// SharedStatus is Status without the projects' schemas: its cost does not grow with their number.
func SharedStatus(ctx context.Context, pool *pgxpool.Pool) ([]Schema, error) {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return nil, fmt.Errorf("connecting to the database: %w", err)
	}
	defer conn.Release()
	return shared(ctx, conn.Conn())
}

func shared(ctx context.Context, conn *pgx.Conn) ([]Schema, error) {
	control, err := status(ctx, conn, ControlSchema, control)
	if err != nil {
		return nil, err
	}
	river, err := statusRiver(ctx, conn)
	return []Schema{control, river}, err
}

// Status lists how far each schema is migrated. A schema that does not exist yet has version 0.
func Status(ctx context.Context, pool *pgxpool.Pool) ([]Schema, error) {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return nil, fmt.Errorf("connecting to the database: %w", err)
	}
	defer conn.Release()
	schemas, err := shared(ctx, conn.Conn())
	if err != nil || schemas[0].Version == 0 {
		return schemas, err
	}
	projects, err := projectIDs(ctx, conn.Conn())
	if err != nil {
		return nil, err
	}
	for _, id := range projects {
		s, err := status(ctx, conn.Conn(), ProjectSchema(id), project)
		if err != nil {
			return nil, err
		}
		schemas = append(schemas, s)
	}
	return schemas, nil
}

// Pending says whether some schema is behind what this binary expects.
func Pending(schemas []Schema) bool {
	for _, s := range schemas {
		if s.Version < s.Latest {
			return true
		}
	}
	return false
}

func locked(ctx context.Context, pool *pgxpool.Pool, fn func(*pgx.Conn) error) error {
	pooled, err := pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("connecting to the database: %w", err)
	}
	// The connection's role is changed below, so it must not go back to the pool.
	conn := pooled.Hijack()
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // closing also frees the lock
	if _, err := conn.Exec(ctx, "select pg_advisory_lock($1)", int64(lockKey)); err != nil {
		return fmt.Errorf("waiting for the migration lock: %w", err)
	}
	return fn(conn)
}

func upControl(ctx context.Context, conn *pgx.Conn, log *slog.Logger) error {
	if _, err := conn.Exec(ctx, "create schema if not exists "+ControlSchema); err != nil {
		return fmt.Errorf("creating the schema: %w", err)
	}
	if err := mayServe(ctx, conn, log); err != nil {
		return err
	}
	return up(ctx, conn, ControlSchema, control)
}

func upRiver(ctx context.Context, pool *pgxpool.Pool, log *slog.Logger) error {
	if _, err := pool.Exec(ctx, "create schema if not exists "+RiverSchema); err != nil {
		return fmt.Errorf("creating the schema: %w", err)
	}
	migrator, err := riverMigrator(pool, log)
	if err != nil {
		return err
	}
	_, err = migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
	return err
}

func riverMigrator(pool *pgxpool.Pool, log *slog.Logger) (*rivermigrate.Migrator[pgx.Tx], error) {
	return rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{Schema: RiverSchema, Logger: log})
}

func upProject(ctx context.Context, conn *pgx.Conn, id uuid.UUID) error {
	name := ProjectSchema(id)
	if _, err := conn.Exec(ctx, "set role "+name); err != nil {
		return fmt.Errorf("taking the project's role: %w", err) // it is kept until the next one or the end of the connection
	}
	return up(ctx, conn, name, project)
}

// createRole makes a role that cannot log in and the schema that it owns. The role gets no right in any other schema.
func createRole(ctx context.Context, conn *pgx.Conn, name string) error {
	if err := takeRole(ctx, conn, name); err != nil {
		return err
	}
	if _, err := conn.Exec(ctx, "create schema if not exists "+name+" authorization "+name); err != nil {
		return fmt.Errorf("creating schema %s: %w", name, err)
	}
	return nil
}

// takeRole makes a role, unless it is there, and takes it on.
func takeRole(ctx context.Context, conn *pgx.Conn, name string) error {
	var exists bool
	if err := conn.QueryRow(ctx, "select exists (select from pg_roles where rolname = $1)", name).Scan(&exists); err != nil {
		return fmt.Errorf("looking for role %s: %w", name, err)
	}
	if !exists {
		if _, err := conn.Exec(ctx, "create role "+name+" nologin noinherit"); err != nil {
			return fmt.Errorf("creating role %s: %w", name, err)
		}
	}
	if _, err := conn.Exec(ctx, "grant "+name+" to current_user"); err != nil {
		return fmt.Errorf("taking on role %s: %w", name, err)
	}
	return nil
}

func up(ctx context.Context, conn *pgx.Conn, schema, dir string) error {
	is, err := version(ctx, conn, schema, versionTable)
	if err != nil {
		return err
	}
	if knows, err := known(dir); err != nil || is > knows {
		return err
	}
	migrator, err := migrate.NewMigrator(ctx, conn, schema+"."+versionTable)
	if err != nil {
		return fmt.Errorf("reading the version of schema %s: %w", schema, err)
	}
	steps, err := fs.Sub(files, dir)
	if err != nil {
		return err
	}
	if err := migrator.LoadMigrations(steps); err != nil {
		return fmt.Errorf("loading migrations: %w", err)
	}
	// The migrator resets the connection's settings after each migration, so the search path is set before each one, in its transaction.
	// Should that fail, the transaction is broken and the migration fails with it.
	migrator.OnStart = func(int32, string, string, string) {
		_, _ = conn.Exec(ctx, "set local search_path = "+schema)
	}
	return migrator.Migrate(ctx)
}

func status(ctx context.Context, conn *pgx.Conn, schema, dir string) (Schema, error) {
	knows, err := known(dir)
	if err != nil {
		return Schema{}, err
	}
	s := Schema{Name: schema, Latest: knows}
	if s.Version, err = version(ctx, conn, schema, versionTable); err != nil {
		return s, err
	}
	s.Needs, _, err = needs(ctx, conn, dir)
	return s, err
}

// statusRiver asks the table and not River's migrator, which fails when a newer program has migrated the database: servers of two
// versions run side by side during an upgrade.
func statusRiver(ctx context.Context, conn *pgx.Conn) (Schema, error) {
	migrator, err := riverMigrator(nil, nil) // it only lists what it holds
	if err != nil {
		return Schema{}, fmt.Errorf("listing River's migrations: %w", err)
	}
	s := Schema{Name: RiverSchema}
	for _, m := range migrator.AllVersions() {
		s.Latest = max(s.Latest, m.Version)
	}
	s.Version, err = version(ctx, conn, RiverSchema, "river_migration")
	return s, err
}

// version is the highest version that a schema's table of versions names; 0 where there is no such table.
func version(ctx context.Context, conn *pgx.Conn, schema, table string) (v int, err error) {
	var exists bool
	if err := conn.QueryRow(ctx, "select to_regclass($1) is not null", schema+"."+table).Scan(&exists); err != nil {
		return 0, fmt.Errorf("looking for schema %s: %w", schema, err)
	}
	if !exists {
		return 0, nil
	}
	if err := conn.QueryRow(ctx, "select coalesce(max(version), 0) from "+schema+"."+table).Scan(&v); err != nil {
		return 0, fmt.Errorf("reading the version of schema %s: %w", schema, err)
	}
	return v, nil
}

func projectIDs(ctx context.Context, conn *pgx.Conn) ([]uuid.UUID, error) {
	rows, err := conn.Query(ctx, "select id from "+ControlSchema+".projects order by id")
	if err != nil {
		return nil, fmt.Errorf("listing projects: %w", err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[[16]byte])
	if err != nil {
		return nil, fmt.Errorf("listing projects: %w", err)
	}
	projects := make([]uuid.UUID, len(ids))
	for i, id := range ids {
		projects[i] = id
	}
	return projects, nil
}

// NumberInProject is the number of the migration of projects' schemas that has this name.
func NumberInProject(name string) (int, error) {
	found, err := fs.Glob(files, project+"/*_"+name+".sql")
	if err != nil || len(found) != 1 {
		return 0, fmt.Errorf("finding the migration %s: %d have the name: %w", name, len(found), err)
	}
	number, _, _ := strings.Cut(path.Base(found[0]), "_")
	return strconv.Atoi(number)
}
