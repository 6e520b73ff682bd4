//go:build linux

package linux

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/python"
)

var tree = sync.OnceValues(func() (python.Tree, error) {
	return python.Open(context.Background(), python.Options{})
})

func newRunner(t testing.TB, level bundle.Isolation) *Runner {
	t.Helper()
	python, err := tree()
	require.NoError(t, err)
	r, err := New(Config{Python: python, Dir: filepath.Join(t.TempDir(), "sandboxes"), Level: level})
	require.NoError(t, err)
	return r
}

func levelsHere() []bundle.Isolation {
	if os.Geteuid() == 0 {
		return Levels()[:2]
	}
	return Levels()[1:]
}
