//go:build linux

package docker

import (
	"testing"

	"github.com/ostraka/ostraka/runtime/linux"
	"github.com/ostraka/ostraka/testenv"
)

func TestMain(m *testing.M) {
	linux.MaybeLaunch()
	MaybeSupervise()
	testenv.Main(m)
}
