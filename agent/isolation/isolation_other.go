//go:build !linux

package isolation

import (
	"context"
	"fmt"
	"runtime"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/harness"
	"github.com/ostraka/ostraka/runtime/linux"
	"github.com/ostraka/ostraka/runtime/python"
)

// isolationLevels: this platform has none beside `process`.
func isolationLevels() []bundle.Isolation { return nil }

// layers are what holds functions back at the level `process`, which is no wall.
func layers(context.Context) []linux.Layer {
	var all []linux.Layer
	for _, w := range harness.Walls() {
		state := linux.StateMissing
		if w.There {
			state = linux.StateOK
		}
		all = append(all, linux.Layer{Name: w.Name, State: state, Detail: w.Detail})
	}
	return all
}

func prove(_ context.Context, level bundle.Isolation, _ python.Tree, _ string, _ ...string) (Sandbox, error) {
	return nil, fmt.Errorf("isolation %q does not exist on %s", level, runtime.GOOS)
}
