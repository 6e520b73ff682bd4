package agent

import (
	"os"
	"testing"

	"github.com/ostraka/ostraka/runtime/linux"
)

// TestMain: the launcher of a sandbox is this binary, started once more.
func TestMain(m *testing.M) {
	linux.MaybeLaunch()
	os.Exit(m.Run())
}
