package functions

import (
	"context"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/runtime/harness"
	"github.com/ostraka/ostraka/runtime/recheck"
)

// ServerAgent is the agent of attempts that the server made itself. They have no lease and no submission.
var ServerAgent = uuid.Nil

// Rechecker executes shards in the server's own sandbox: runtime/docker, or the agents' strongest level. A recheck.Executor is one.
type Rechecker interface {
	// Describe says what results are made in; every verdict of the server names it.
	Describe() recheck.Description
	// Recheck executes shards as agents do. Its error is operational and never a verdict.
	Recheck(ctx context.Context, batch recheck.Batch) ([]harness.Result, error)
	// Health says why nothing could be executed now.
	Health(ctx context.Context) error
}
