package engine_test

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/engine"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/migrations"
	"github.com/ostraka/ostraka/queue"
)

// seed is the project that every world begins with, and its owner's key. It is made once for all worlds of the test binary, in the database
// that theirs are copies of: its migrations are most of what a world costs. They share its role, as Postgres' roles are of no database.
var seed struct {
	server functions.Principal // who made it
	key    string
}

// sow fills the database that worlds are copies of.
func sow(url string) error {
	ctx, log := context.Background(), slog.New(slog.DiscardHandler)
	s, err := store.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := migrations.Up(ctx, s.Pool, log); err != nil {
		return err
	}
	q, err := queue.New(s.Pool, log)
	if err != nil {
		return err
	}
	seed.server = functions.Principal{KeyID: uuid.New(), Role: functions.RoleOperator}
	service := engine.New(engine.Options{Store: s, Queue: q, Notices: base.NewNotices(), Log: log})
	_, seed.key, _, err = service.CreateProject(ctx, seed.server, "primes", functions.Idempotency{})
	if err != nil {
		return fmt.Errorf("making the project of all worlds: %w", err)
	}
	return nil
}
