package wasm_test

import (
	"log/slog"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/ostraka/ostraka/wasm"
	"github.com/ostraka/ostraka/wasm/runner"

	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) {
	runner.MaybeRun()
	goleak.VerifyTestMain(m)
}

// newPool makes a pool with a cache of its own, and closes it after the test.
func newPool(t testing.TB, change func(*wasm.Options)) *wasm.Pool {
	t.Helper()
	o := wasm.Options{CacheDir: t.TempDir() + "/modules", Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))}
	if change != nil {
		change(&o)
	}
	p, err := wasm.NewPool(o)
	require.NoError(t, err)
	t.Cleanup(p.Close)
	return p
}
