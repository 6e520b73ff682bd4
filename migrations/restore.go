package migrations

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// MakeSchema makes a project's role and its schema, and nothing in it: a backup is restored there. It fails where the schema exists.
func MakeSchema(ctx context.Context, pool *pgxpool.Pool, project uuid.UUID) error {
	return locked(ctx, pool, func(conn *pgx.Conn) error {
		name := ProjectSchema(project)
		if err := takeRole(ctx, conn, name); err != nil {
			return err
		}
		// Cut off, nobody would know whose it is.
		if _, err := conn.Exec(context.WithoutCancel(ctx), "create schema "+name+" authorization "+name); err != nil {
			return fmt.Errorf("creating schema %s: %w", name, err)
		}
		return nil
	})
}

// KindOf says of which kind a schema is, for Known.
func KindOf(schema string) string {
	switch schema {
	case ControlSchema:
		return control
	case RiverSchema:
		return RiverSchema
	}
	return project
}

// Known is the last migration of each kind of schema that this program holds.
func Known() (map[string]int, error) {
	all := map[string]int{}
	for _, kind := range []string{control, project} {
		n, err := known(kind)
		if err != nil {
			return nil, err
		}
		all[kind] = n
	}
	river, err := riverMigrator(nil, nil)
	if err != nil {
		return nil, err
	}
	for _, m := range river.AllVersions() {
		all[RiverSchema] = max(all[RiverSchema], m.Version)
	}
	return all, nil
}
