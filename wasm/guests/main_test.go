// Package guests_test runs modules that do their worst, and one that looks around. What is tested is inside the runner, which is one
// thread of a process of its own: these tests run without the race detector, which sees the pool's goroutines in the package wasm.
package guests_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/ostraka/ostraka/wasm"
	"github.com/ostraka/ostraka/wasm/runner"
)

func TestMain(m *testing.M) {
	runner.MaybeRun()
	goleak.VerifyTestMain(m)
}

const unreachable = 0x00

var header = wasm.Header{Kind: wasm.KindAggregator, Phase: wasm.PhaseLeaf, Project: "p", Job: "j"}

func discard([]byte) error { return nil }

// newPool makes a pool with a cache of its own, and closes it after the test.
func newPool(t testing.TB, change func(*wasm.Options)) *wasm.Pool {
	t.Helper()
	o := wasm.Options{CacheDir: filepath.Join(t.TempDir(), "modules")}
	if change != nil {
		change(&o)
	}
	p, err := wasm.NewPool(o)
	require.NoError(t, err)
	t.Cleanup(p.Close)
	return p
}

// tight are limits that a bad module meets soon: its fuel is what only modules that never end are meant to use up.
func tight(o *wasm.Options) {
	o.Limits.Memory = 128 << 20
	o.Limits.Output = 1 << 20
	o.Limits.Line = 64 << 10
	o.Limits.Fuel = 500_000_000
}

// runBytes runs a module with no records and returns what it printed.
func runBytes(t testing.TB, p *wasm.Pool, module []byte) (string, wasm.Stats, *wasm.Error) {
	t.Helper()
	var out strings.Builder
	stats, err := p.Run(t.Context(), "p", wasm.FromBytes(module), header, nil, func(line []byte) error {
		out.Write(line)
		out.WriteByte('\n')
		return nil
	})
	if err == nil {
		return out.String(), stats, nil
	}
	var e *wasm.Error
	require.ErrorAs(t, err, &e)
	return out.String(), stats, e
}
