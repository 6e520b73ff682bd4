//go:build !linux

package harness

import "context"

// Session is how shards are run on this system: each in an interpreter of its own.
type Session = Plain

// Start starts a session.
func Start(ctx context.Context, cfg Config) (*Session, error) { return StartPlain(ctx, cfg) }
