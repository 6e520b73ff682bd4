//go:build linux

package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/ostraka/ostraka/devdb"
)

// databaseRetry is the wait before the next try to start a database that does not start.
const databaseRetry = 2 * time.Second

// keepDatabase starts the embedded Postgres again whenever it dies, until the context ends. The server rides over the gap: its
// connections are made again and its steps are repeated.
func keepDatabase(ctx context.Context, db *devdb.Server, log *slog.Logger) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-db.Done():
		}
		if ctx.Err() != nil {
			return
		}
		log.Warn("the embedded Postgres has died and is started again")
		for {
			err := db.Restart(ctx)
			if err == nil || ctx.Err() != nil {
				break
			}
			log.Error("starting the embedded Postgres again", "error", err, "next_try_in", databaseRetry)
			select {
			case <-ctx.Done():
				return
			case <-time.After(databaseRetry):
			}
		}
	}
}
