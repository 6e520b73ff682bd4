package main

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ostraka/ostraka/runtime/docker"
	"github.com/ostraka/ostraka/runtime/linux"
	"github.com/ostraka/ostraka/wasm/runner"
)

// quickExit lets programs with the race detector end at once; they would sleep for a second, and the tests here run hundreds of them.
const quickExit = "atexit_sleep_ms=0"

// raceRunner names the program in which tests with the race detector run modules.
const raceRunner = "RACE_WASM_RUNNER"

// TestMain makes this test binary be the program when it is run under its name: scripts run it, and so does `ostraka dev` for its
// agents.
func TestMain(m *testing.M) {
	linux.MaybeLaunch()
	docker.MaybeSupervise()
	runner.MaybeRun()
	if err := os.Setenv("GORACE", quickExit); err != nil {
		panic(err)
	}
	testscript.Main(m, map[string]func(){"ostraka": main})
}
