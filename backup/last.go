package backup

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/ostraka/ostraka/functions/store"
)

// Last says when an installation was copied last.
type Last struct {
	Known    bool          // whether the schema tells
	Program  string        // the version that made it; empty where there is none
	Age      time.Duration // of the moment that it is of
	Archived time.Duration // how long ago a segment of WAL was archived; 0 where none was
}

// ReadLast asks the database.
func ReadLast(ctx context.Context, db *pgxpool.Pool) (last Last, err error) {
	if last.Known, _, err = store.Value[bool](ctx, db, knowsBackups); err != nil || !last.Known {
		return last, err
	}
	row, _, err := store.One[struct {
		Program  string
		Age      float64
		Archived float64
	}](ctx, db, lastBackup)
	if err != nil {
		return last, fmt.Errorf("asking for the last backup: %w", err)
	}
	last.Program, last.Age, last.Archived = row.Program, seconds(row.Age), seconds(row.Archived)
	return last, nil
}

func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }
