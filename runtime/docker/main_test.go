//go:build linux

package docker

import (
	"os"
	"testing"

	"github.com/ostraka/ostraka/runtime/linux"
)

func TestMain(m *testing.M) {
	linux.MaybeLaunch()
	MaybeSupervise()
	os.Exit(m.Run())
}
