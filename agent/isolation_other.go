//go:build !linux

package agent

import (
	"context"
	"fmt"
	"runtime"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/linux"
	"github.com/ostraka/ostraka/runtime/python"
)

// isolationLevels: this platform has none beside `process`.
func isolationLevels() []bundle.Isolation { return nil }

// layers: there are none to be tried.
func layers(context.Context) []linux.Layer { return nil }

func prove(_ context.Context, level bundle.Isolation, _ python.Tree, _ string, _ ...string) (Sandbox, error) {
	return nil, fmt.Errorf("isolation %q does not exist on %s", level, runtime.GOOS)
}
