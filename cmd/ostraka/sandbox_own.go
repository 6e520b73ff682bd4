package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/ostraka/ostraka/agent"
	"github.com/ostraka/ostraka/runtime/python"
)

// openSandbox opens the strongest sandbox that this machine allows, in a folder of its own, for a command that executes a function here.
// remove removes the folder.
func openSandbox(ctx context.Context, t *terminal, walls agent.Walls, tree python.Tree) (sandbox agent.Sandbox, remove func() error, err error) {
	if walls.Log, err = newLog(t, "warn"); err != nil {
		return nil, nil, err
	}
	if walls.Work, err = os.MkdirTemp("", "ostraka-sandbox-"); err != nil {
		return nil, nil, fmt.Errorf("making a folder for the sandbox: %w", err)
	}
	remove = func() error { return os.RemoveAll(walls.Work) }
	if sandbox, err = agent.Isolate(ctx, walls, tree); err != nil {
		return nil, nil, errors.Join(err, remove())
	}
	return sandbox, remove, nil
}
