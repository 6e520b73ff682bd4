package testenv

import (
	"context"
	_ "embed"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

var (
	//go:embed sql/terminate_sessions.sql
	terminateSessions string
	//go:embed sql/dead_databases.sql
	deadDatabases string
)

// undefinedDatabase is Postgres' code for a database that does not exist.
const undefinedDatabase = "3D000"

// quote makes a name safe in statements that take no parameters.
func quote(name string) string { return pgx.Identifier{name}.Sanitize() }

func (pg *postgresServer) exec(sql string, args ...any) error {
	pg.mu.Lock()
	defer pg.mu.Unlock()
	if err := pg.reconnect(); err != nil {
		return err
	}
	_, err := pg.admin.Exec(context.Background(), sql, args...)
	return err
}

// reconnect mends the session after a test has killed the server under it.
func (pg *postgresServer) reconnect() error {
	if pg.admin.Ping(context.Background()) == nil {
		return nil
	}
	_ = pg.admin.Close(context.Background())
	return pg.connect()
}

func (pg *postgresServer) create(name, from string) error {
	if err := pg.exec(`create database ` + quote(name) + ` template ` + quote(from)); err != nil {
		return fmt.Errorf("creating database %s: %w", name, err)
	}
	return nil
}

// drop ends the sessions in the database and drops it.
func (pg *postgresServer) drop(name string) error {
	if err := pg.exec(`drop database if exists ` + quote(name) + ` with (force)`); err != nil {
		return fmt.Errorf("dropping database %s: %w", name, err)
	}
	return nil
}

// sweep drops what killed runs have left on a server of one's own. Another run
// may be sweeping too.
func (pg *postgresServer) sweep() error {
	rows, err := pg.admin.Query(context.Background(), deadDatabases)
	if err != nil {
		return fmt.Errorf("looking for databases of dead runs: %w", err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("looking for databases of dead runs: %w", err)
	}
	for _, name := range names {
		var pgErr *pgconn.PgError
		err := pg.drop(name)
		if errors.As(err, &pgErr) && pgErr.Code == undefinedDatabase {
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// close drops the templates and ends the session.
func (pg *postgresServer) close() {
	for _, tmpl := range pg.templates {
		_ = pg.drop(tmpl.name) // swept by the next run if this fails
	}
	_ = pg.admin.Close(context.Background())
}
