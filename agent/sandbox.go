package agent

import (
	"context"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/harness"
)

// Sandbox is where functions run. The levels of isolation differ behind it and nowhere else.
type Sandbox interface {
	// Isolation is the level that the sandbox achieves, as it has proved.
	Isolation() bundle.Isolation
	// Describe names the interpreter and the C library, as the server is told.
	Describe(ctx context.Context) (interpreter, libc string, err error)
	// Open prepares a session for the shards of one lease. It may use dir, an empty directory, as it likes.
	Open(ctx context.Context, b *bundle.Bundle, dir string) (Session, error)
}

// Session runs the shards of one lease, one at a time.
type Session interface {
	// Run executes one shard. Whatever the function does is in the result; an error means that the sandbox itself does not work,
	// or that the context has ended.
	Run(ctx context.Context, shard int64, input []byte) (harness.Result, error)
	// Close ends everything that the session started.
	Close() error
}
