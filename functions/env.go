package functions

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/functions/store"
)

// project runs fn in one transaction of the project and turns what went wrong outside fn into errors for the caller.
func (s *Service) project(ctx context.Context, id uuid.UUID, fn func(tx *store.Tx) error) error {
	return s.sayDeleted(ctx, id, translate(s.store.Project(ctx, id, fn), id))
}

// lend is project for leases: one that a crash of Postgres takes back is lent again.
func (s *Service) lend(ctx context.Context, id uuid.UUID, fn func(tx *store.Tx) error) error {
	return translate(s.store.Repeatable(ctx, id, fn), id)
}

// control runs fn in one transaction of the control schema.
func (s *Service) control(ctx context.Context, fn func(tx pgx.Tx) error) error {
	return translate(s.store.Control(ctx, fn), uuid.Nil)
}

// translate turns what went wrong outside a transaction's own code into an error for the caller.
func translate(err error, project uuid.UUID) error {
	var ours *Error
	switch {
	case err == nil || errors.As(err, &ours):
		return err
	case errors.Is(err, store.ErrNoProject):
		return NotFound("project", project.String())
	case store.BadText(err):
		return &Error{
			Kind: KindInvalid, Code: "bad_text", Message: "a text holds what cannot be stored: a NUL character, or bytes that are not UTF-8",
			Hint: "leave it out", Err: err,
		}
	case store.Unavailable(err):
		return &Error{
			Kind: KindUnavailable, Code: "database_unavailable", Message: "the database does not answer",
			Hint: "nothing was changed; send the same request again in a moment", Err: err,
		}
	default:
		return err
	}
}

// enqueue leaves the project's role and enqueues the next steps; it is the last thing that a step does.
func (s *Service) enqueue(ctx context.Context, tx *store.Tx, steps ...Step) error {
	if len(steps) == 0 {
		return nil
	}
	server, err := tx.AsServer(ctx)
	if err != nil {
		return err
	}
	if err := s.queue.Enqueue(ctx, server, steps...); err != nil {
		return fmt.Errorf("enqueueing %s: %w", steps[0].Kind(), err)
	}
	return nil
}

// newID returns a UUIDv7: IDs sort by the time they were made.
func newID() uuid.UUID {
	id, err := uuid.NewV7()
	if err != nil {
		panic(fmt.Sprintf("the system has no randomness: %v", err)) // nothing that needs an ID can go on
	}
	return id
}
