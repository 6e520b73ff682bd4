package codereader

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/wasm"
	"github.com/ostraka/ostraka/wasm/runner"
)

// TestWhoIsToBlameForAReadingThatFailed holds what a bundle is remembered for: what its files do to the module, and not what the machine does.
func TestWhoIsToBlameForAReadingThatFailed(t *testing.T) {
	for name, c := range map[string]struct {
		err    error
		bundle bool
	}{
		"it did not start":            {errors.New("fork: resource temporarily unavailable"), false},
		"the disk is full":            {&wasm.Error{Class: wasm.ClassHost, Message: "no space left on device"}, false},
		"the machine is slow":         {&wasm.Error{Class: wasm.ClassDeadline}, false},
		"it was killed for memory":    {&wasm.Error{Class: wasm.ClassMemoryLimit, Err: &runner.Died{State: "signal: killed", Memory: true, Err: errors.New("running")}}, false},
		"it could not be compiled":    {&wasm.Error{Class: wasm.ClassCompileLimit}, false},
		"it cannot be loaded":         {&wasm.Error{Class: wasm.ClassRejected}, false},
		"it asks to be tried again":   {&wasm.Error{Class: wasm.ClassExit, ExitCode: wasm.ExitTemporary}, false},
		"the file is too much for it": {&wasm.Error{Class: wasm.ClassFuel}, true},
		"the file takes its memory":   {&wasm.Error{Class: wasm.ClassMemoryLimit}, true},
		"the file makes it fail":      {&wasm.Error{Class: wasm.ClassTrap}, true},
		"the file is not understood":  {&wasm.Error{Class: wasm.ClassExit, ExitCode: wasm.ExitBadInput}, true},
	} {
		t.Run(name, func(t *testing.T) {
			var of fault
			require.Equal(t, c.bundle, errors.As(blame(fmt.Errorf("main.py: %w", c.err)), &of))
		})
	}
}
