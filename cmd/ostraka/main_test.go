package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ostraka/ostraka/runtime/linux"
	"github.com/ostraka/ostraka/wasm/runner"
)

// TestMain makes this test binary be the program when it is run under its name: scripts run it, and so does `ostraka dev` for its
// agents.
func TestMain(m *testing.M) {
	linux.MaybeLaunch()
	runner.MaybeRun()
	testscript.Main(m, map[string]func(){"ostraka": main})
}
