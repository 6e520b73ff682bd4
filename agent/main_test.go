package agent

import (
	"os"
	"testing"

	"github.com/ostraka/ostraka/runtime/linux"
	"github.com/ostraka/ostraka/testenv"
	"github.com/ostraka/ostraka/wasm/runner"
)

// abreast is how many tests run at a time: nearly all that they do is wait for an agent's timers.
const abreast = 24

// TestMain: the launcher of a sandbox is this binary, started once more; so is the runner of modules.
func TestMain(m *testing.M) {
	linux.MaybeLaunch()
	runner.MaybeRun()
	testenv.Abreast(abreast)
	os.Exit(m.Run())
}
