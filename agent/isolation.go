package agent

import (
	"context"
	"errors"
	"fmt"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/python"
)

// ErrIsolation says that no level of isolation that is wanted holds on this machine.
var ErrIsolation = errors.New("no isolation that is wanted can be had on this machine")

// isolate finds the strongest level that a canary fails to escape from, and says of each that it passes over why.
func isolate(ctx context.Context, o Options, dir *dataDir, tree python.Tree) (Sandbox, error) {
	levels := isolationLevels()
	if o.Isolation != "" {
		levels = []bundle.Isolation{o.Isolation}
	} else if o.AllowProcess {
		levels = append(levels, bundle.Process)
	}
	var reasons []error
	for _, level := range levels {
		sandbox, err := proven(ctx, level, tree, dir)
		if err == nil {
			o.Log.Info("isolation", "level", level, "proven", level != bundle.Process)
			if level == bundle.Process {
				o.Log.Warn("isolation is only \"process\", which is no wall: functions run as the user who runs this agent, and can read that user's files")
			}
			return sandbox, nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		o.Log.Warn("a level of isolation is not to be had here", "level", level, "why", err)
		reasons = append(reasons, err)
	}
	return nil, fmt.Errorf("%w: %w\nostraka agent doctor shows what is missing and the commands that mend it; for functions that you trust as you trust yourself there is --isolation process",
		ErrIsolation, errors.Join(reasons...))
}

func proven(ctx context.Context, level bundle.Isolation, tree python.Tree, dir *dataDir) (Sandbox, error) {
	if level == bundle.Process {
		return NewSandbox(tree, dir.work())
	}
	return prove(ctx, level, tree, dir.work(), dir.path, dir.keyFile())
}
