//go:build linux

package linux

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	MaybeLaunch()
	os.Exit(m.Run())
}
