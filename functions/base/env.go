package base

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/store"
)

// Project runs fn in one transaction of the project and turns what went wrong outside fn into errors for the caller.
func (e *Env) Project(ctx context.Context, id uuid.UUID, fn func(tx *store.Tx) error) error {
	if s := functions.ShortcutOf(ctx); s != nil && s.Relaxed {
		return e.Repeatable(ctx, id, fn)
	}
	return e.sayDeleted(ctx, id, recorded(ctx, Translate(e.Store.Project(ctx, id, fn), id)))
}

// Repeatable is Project for what is simply done again when a crash of Postgres takes it back: a lease is leased again, and the steps of a
// shortcut are still in the queue.
func (e *Env) Repeatable(ctx context.Context, id uuid.UUID, fn func(tx *store.Tx) error) error {
	return e.sayDeleted(ctx, id, recorded(ctx, Translate(e.Store.Repeatable(ctx, id, fn), id)))
}

// Control runs fn in one transaction of the control schema.
func (e *Env) Control(ctx context.Context, fn func(tx pgx.Tx) error) error {
	return recorded(ctx, Translate(e.Store.Control(ctx, fn), uuid.Nil))
}

// In runs fn in one transaction where what is about a project belongs; the nil project: on the control schema.
func (e *Env) In(ctx context.Context, project uuid.UUID, fn func(tx *store.Tx) error) error {
	if project != uuid.Nil {
		return e.Project(ctx, project, fn)
	}
	return e.Control(ctx, func(tx pgx.Tx) error { return fn(store.Of(tx, uuid.Nil)) })
}

// Translate turns what went wrong outside a transaction's own code into an error for the caller.
func Translate(err error, project uuid.UUID) error {
	var ours *functions.Error
	switch {
	case err == nil || errors.As(err, &ours):
		return err
	case errors.Is(err, store.ErrNoProject):
		return functions.NotFound("project", project.String())
	case store.BadText(err):
		return &functions.Error{
			Kind: functions.KindInvalid, Code: "bad_text", Message: "a text holds what cannot be stored: a NUL character, or bytes that are not UTF-8",
			Hint: "leave it out", Err: err,
		}
	case store.Unavailable(err):
		return &functions.Error{
			Kind: functions.KindUnavailable, Code: "database_unavailable", Message: "the database does not answer",
			Hint: "nothing was changed; send the same request again in a moment", Err: err,
		}
	default:
		return err
	}
}

// Enqueue leaves the project's role and enqueues the next steps; it is the last thing that a step does.
func (e *Env) Enqueue(ctx context.Context, tx *store.Tx, steps ...functions.Step) error {
	if len(steps) == 0 {
		return nil
	}
	server, err := tx.AsServer(ctx)
	if err != nil {
		return err
	}
	if err := e.Queue.Enqueue(ctx, server, steps...); err != nil {
		return fmt.Errorf("enqueueing %s: %w", steps[0].Kind(), err)
	}
	return nil
}

// NewID returns a UUIDv7: IDs sort by the time they were made.
func NewID() uuid.UUID {
	id, err := uuid.NewV7()
	if err != nil {
		panic(fmt.Sprintf("the system has no randomness: %v", err)) // nothing that needs an ID can continue
	}
	return id
}
