//go:build linux

package main

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/ostraka/ostraka/backup"
)

// oldBackup is how old the last backup may be: a day that was missed is a weekend's, two are a habit.
const oldBackup = 3 * 24 * time.Hour

func examineBackup(ctx context.Context, pool *pgxpool.Pool) (diagnosis, error) {
	last, err := backup.ReadLast(ctx, pool)
	if err != nil {
		return diagnosis{}, err
	}
	return judgeBackup(last), nil
}

// judgeBackup is about backups that ostraka backup made: others leave nothing behind that a database could tell.
func judgeBackup(last backup.Last) diagnosis {
	const fix = "ostraka backup DIR, each night; or watch your own (docs/backup.md)"
	switch {
	case !last.Known:
		return fine("", "the schema is of before backups were remembered")
	case last.Program == "" && last.Archived > 0 && last.Archived <= oldBackup:
		return fine("", "none by ostraka backup; WAL was archived %v ago", last.Archived.Round(time.Second))
	case last.Program == "":
		return warned("", fix, "ostraka backup has made none")
	case last.Age > oldBackup:
		return warned("", fix, "the last one is of %v ago", last.Age.Round(time.Hour))
	}
	return fine("", "the last one is of %v ago", last.Age.Round(time.Minute))
}
