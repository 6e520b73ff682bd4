// Package isolation finds the strongest sandbox that holds on this machine, proves it with a canary, and says what a machine lacks for a stronger
// one. It knows nothing of servers, leases and preferences: the agent asks it once, at its start, and the doctor as often as it likes.
package isolation

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/python"
)

// ErrIsolation says that no level of isolation that is wanted holds on this machine.
var ErrIsolation = errors.New("no isolation that is wanted can be had on this machine")

// Walls say what isolation is wanted.
type Walls struct {
	Level        bundle.Isolation // this one and no other; empty: the strongest that there is
	AllowProcess bool             // take the level `process`, which is no wall, where there is no other
	Work         string           // the folder that sandboxes may write below
	Hidden       []string         // what no function may read: a canary tries
	Log          *slog.Logger
}

// Isolate finds the strongest level that a canary fails to escape from, and says of each that it passes over why.
func Isolate(ctx context.Context, o Walls, tree python.Tree) (Sandbox, error) {
	levels := isolationLevels()
	if o.Level != "" {
		levels = []bundle.Isolation{o.Level}
	} else if o.AllowProcess {
		levels = append(levels, bundle.Process)
	}
	var reasons []error
	for _, level := range levels {
		sandbox, err := proven(ctx, level, o, tree)
		if err == nil {
			o.Log.Info("isolation", "isolation", level, "proven", level != bundle.Process)
			if level == bundle.Process {
				o.Log.Warn("isolation is only \"process\", which is no wall: functions run as the user who runs this agent, and can read that user's files")
			}
			return sandbox, nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		o.Log.Warn("isolation level unavailable", "isolation", level, "why", err)
		reasons = append(reasons, err)
	}
	return nil, fmt.Errorf("%w: %w\nostraka agent doctor shows what is missing and the commands that mend it; for functions that you trust as you trust yourself there is --isolation process",
		ErrIsolation, errors.Join(reasons...))
}

func proven(ctx context.Context, level bundle.Isolation, o Walls, tree python.Tree) (Sandbox, error) {
	if level == bundle.Process {
		return NewSandbox(tree, o.Work)
	}
	if level == bundle.Wasm {
		return nil, fmt.Errorf("isolation %q is that of functions in WebAssembly, which every agent has: name a level for those in Python", level)
	}
	return prove(ctx, level, tree, o.Work, o.Hidden...)
}
