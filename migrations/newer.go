package migrations

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// The kinds of schemas, which are also the folders of their migrations.
const (
	control = "control"
	project = "project"
)

// TooNewError says that a program must not work on a database that a newer one has migrated.
type TooNewError struct {
	Kind  string // of schema: control or project
	Needs int    // the number of the migration that a program must know
	Knows int    // the last one that this program knows
}

// Error implements error.
func (e *TooNewError) Error() string {
	return fmt.Sprintf("a newer ostraka has migrated the database to what this program cannot work with: the %s schema needs a program that knows its migration %d, and this one knows %d", e.Kind, e.Needs, e.Knows)
}

// Fits says whether this program may work on the schemas, newer ones included; the error is a TooNewError where it may not.
func Fits(ctx context.Context, pool *pgxpool.Pool) error {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("connecting to the database: %w", err)
	}
	defer conn.Release()
	_, err = fits(ctx, conn.Conn())
	return err
}

// fits also says whether some schema is newer than this program.
func fits(ctx context.Context, conn *pgx.Conn) (newer bool, err error) {
	for _, kind := range []string{control, project} {
		knows, err := known(kind)
		if err != nil {
			return false, err
		}
		oldest, newest, err := needs(ctx, conn, kind)
		if err != nil {
			return false, err
		}
		if oldest > knows {
			return true, &TooNewError{Kind: kind, Needs: oldest, Knows: knows}
		}
		newer = newer || newest > knows
	}
	return newer, nil
}

func mayServe(ctx context.Context, conn *pgx.Conn, log *slog.Logger) error {
	newer, err := fits(ctx, conn)
	if err == nil && newer {
		log.Warn("a newer ostraka has migrated the database: this one works on it as it is and makes no projects; upgrade it when the others run")
	}
	return err
}

// mayCreate keeps a program from making a project that is behind what newer servers expect of it.
func mayCreate(ctx context.Context, conn *pgx.Conn) error {
	knows, err := known(project)
	if err != nil {
		return err
	}
	_, newest, err := needs(ctx, conn, project)
	if err == nil && newest > knows {
		err = &TooNewError{Kind: project, Needs: newest, Knows: knows}
	}
	return err
}

// known is the number of the last migration of a kind that this program holds.
func known(kind string) (int, error) {
	entries, err := files.ReadDir(kind)
	if err != nil {
		return 0, fmt.Errorf("listing migrations: %w", err)
	}
	return len(entries), nil
}

// needs is what the database says of a kind of schemas: the oldest program that may work on them, and how far they are. Both are 0 where
// it does not say so yet.
func needs(ctx context.Context, conn *pgx.Conn, kind string) (oldest, newest int, err error) {
	var there bool
	if err := conn.QueryRow(ctx, "select to_regclass($1) is not null", ControlSchema+".schema_needs").Scan(&there); err != nil {
		return 0, 0, fmt.Errorf("looking for what the schemas need: %w", err)
	}
	if !there {
		return 0, 0, nil
	}
	err = conn.QueryRow(ctx, "select oldest, newest from "+ControlSchema+".schema_needs where kind = $1", kind).Scan(&oldest, &newest)
	if err != nil {
		return 0, 0, fmt.Errorf("reading what the %s schema needs: %w", kind, err)
	}
	return oldest, newest, nil
}

// reached remembers how far the schemas are, for older programs.
func reached(ctx context.Context, conn *pgx.Conn) error {
	if _, err := conn.Exec(ctx, "reset role"); err != nil {
		return fmt.Errorf("giving the project's role back: %w", err)
	}
	for _, kind := range []string{control, project} {
		knows, err := known(kind)
		if err != nil {
			return err
		}
		if _, err := conn.Exec(ctx, "update "+ControlSchema+".schema_needs set newest = $2 where kind = $1 and newest < $2", kind, knows); err != nil {
			return fmt.Errorf("keeping how far the %s schema is: %w", kind, err)
		}
	}
	return nil
}
