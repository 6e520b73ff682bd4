// Package books checks that a job's rows agree at any moment between two transactions, whatever was killed, for tests and for programs
// that break things on purpose. Each check is a query in a file that finds nothing while the books are in order, and is named after what holds.
package books

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// The questions look up by values instead of anti-joins, and count what belongs to shards in one pass: tests' tables have no statistics,
// and what the planner takes for ten rows may be a hundred thousand.
//
//go:embed sql/*.sql
var files embed.FS

// Questions are the queries, each by what it holds. They are asked in a project's schema, with a job's ID.
func Questions() map[string]string {
	all := map[string]string{}
	names, err := fs.Glob(files, "sql/*.sql")
	if err != nil {
		panic(err) // the pattern is right
	}
	for _, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			panic(err) // it is in the program
		}
		what := strings.ReplaceAll(strings.TrimSuffix(path.Base(name), ".sql"), "_", " ")
		all[what] = string(text)
	}
	return all
}

// shown is how many rows of a broken book an error shows.
const shown = 5

// OfAll is the question about all that a project has ever had: it holds only while every job has its rows still. Those of archived and deleted
// jobs are gone, and so are attempts that were refuted; what agents are trusted for stays.
const OfAll = "no attempt is evidence twice"

// Check finds books of a job that are not in order, without asking some questions. conn has the project's schema in its search path.
func Check(ctx context.Context, conn *pgx.Conn, job uuid.UUID, without ...string) error {
	var wrong []error
	for what, sql := range Questions() {
		if slices.Contains(without, what) {
			continue
		}
		rows, err := conn.Query(ctx, sql, job)
		if err != nil {
			return fmt.Errorf("asking whether %s: %w", what, err)
		}
		found, err := pgx.CollectRows(rows, pgx.RowToMap)
		if err != nil {
			return fmt.Errorf("asking whether %s: %w", what, err)
		}
		if len(found) > 0 {
			wrong = append(wrong, fmt.Errorf("it does not hold that %s: %d rows, %v", what, len(found), found[:min(shown, len(found))]))
		}
	}
	return errors.Join(wrong...)
}
