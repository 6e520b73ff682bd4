package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"path"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Query is one .sql file.
type Query struct {
	Name string
	SQL  string
}

// Load reads a query when the program starts; a missing file is a programming error.
func Load(files fs.FS, name string) Query {
	text, err := fs.ReadFile(files, name+".sql")
	if err != nil {
		panic(err)
	}
	return Query{Name: path.Base(name), SQL: strings.TrimSpace(string(text))}
}

// DB is what queries run on: a transaction or a pool.
type DB interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// Exec runs a query that returns no rows and says how many rows it changed.
func Exec(ctx context.Context, db DB, q Query, args ...any) (int64, error) {
	tag, err := db.Exec(ctx, q.SQL, args...)
	if err != nil {
		return 0, fmt.Errorf("query %s: %w", q.Name, err)
	}
	return tag.RowsAffected(), nil
}

// Many collects rows into structs by the names of the columns.
func Many[T any](ctx context.Context, db DB, q Query, args ...any) ([]T, error) {
	rows, err := db.Query(ctx, q.SQL, args...)
	if err != nil {
		return nil, fmt.Errorf("query %s: %w", q.Name, err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[T])
	if err != nil {
		return nil, fmt.Errorf("query %s: %w", q.Name, err)
	}
	return list, nil
}

// One is Many for one row; found is false where there is none.
func One[T any](ctx context.Context, db DB, q Query, args ...any) (row T, found bool, err error) {
	rows, err := db.Query(ctx, q.SQL, args...)
	if err != nil {
		return row, false, fmt.Errorf("query %s: %w", q.Name, err)
	}
	row, err = pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[T])
	return found1(q, row, err)
}

// Value is One for a single column.
func Value[T any](ctx context.Context, db DB, q Query, args ...any) (value T, found bool, err error) {
	rows, err := db.Query(ctx, q.SQL, args...)
	if err != nil {
		return value, false, fmt.Errorf("query %s: %w", q.Name, err)
	}
	value, err = pgx.CollectExactlyOneRow(rows, pgx.RowTo[T])
	return found1(q, value, err)
}

// Each is Many without keeping the rows: it hands each on, and stops at the first error.
func Each[T any](ctx context.Context, db DB, q Query, each func(T) error, args ...any) error {
	rows, err := db.Query(ctx, q.SQL, args...)
	if err != nil {
		return fmt.Errorf("query %s: %w", q.Name, err)
	}
	defer rows.Close()
	for rows.Next() {
		row, err := pgx.RowToStructByName[T](rows)
		if err != nil {
			return fmt.Errorf("query %s: %w", q.Name, err)
		}
		if err := each(row); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("query %s: %w", q.Name, err)
	}
	return nil
}

// Values is Many for a single column.
func Values[T any](ctx context.Context, db DB, q Query, args ...any) ([]T, error) {
	rows, err := db.Query(ctx, q.SQL, args...)
	if err != nil {
		return nil, fmt.Errorf("query %s: %w", q.Name, err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[T])
	if err != nil {
		return nil, fmt.Errorf("query %s: %w", q.Name, err)
	}
	return list, nil
}

func found1[T any](q Query, value T, err error) (T, bool, error) {
	if errors.Is(err, pgx.ErrNoRows) {
		return value, false, nil
	}
	if err != nil {
		return value, false, fmt.Errorf("query %s: %w", q.Name, err)
	}
	return value, true, nil
}

func isNetwork(err error) bool {
	var network net.Error
	return errors.As(err, &network) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF)
}
