package builtin_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/ostraka/ostraka/wasm"
	"github.com/ostraka/ostraka/wasm/builtin"
	"github.com/ostraka/ostraka/wasm/runner"
)

func TestMain(m *testing.M) {
	runner.MaybeRun()
	goleak.VerifyTestMain(m)
}

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

func aggregation(p *wasm.Pool, params string) wasm.Aggregation {
	return wasm.Aggregation{Use: wasm.Use{Pool: p, Project: "p", Job: "j", Module: builtin.Module(), Params: json.RawMessage(params)}}
}

func items(results []string) []wasm.Item {
	list := make([]wasm.Item, len(results))
	for i, r := range results {
		list[i] = wasm.Item{ID: "7", Result: []byte(r)}
	}
	return list
}

// fold folds leaves of results, merges the partials and finishes.
func fold(ctx context.Context, a wasm.Aggregation, leaves ...[]string) (wasm.Final, error) {
	var partials []wasm.Partial
	for _, leaf := range leaves {
		p, _, err := a.Fold(ctx, wasm.Each(items(leaf)))
		if err != nil {
			return wasm.Final{}, err
		}
		partials = append(partials, p)
	}
	if len(partials) > 1 {
		p, _, err := a.Merge(ctx, wasm.Each(partials))
		if err != nil {
			return wasm.Final{}, err
		}
		partials = []wasm.Partial{p}
	}
	f, _, err := a.Final(ctx, wasm.Each(partials))
	return f, err
}

// Anyone can check that the committed bytes come from the source: the build is
// reproducible. It needs the compiler, so it runs where that is installed.
func TestCommittedBytesAreTheSource(t *testing.T) {
	committed, err := filepath.Glob("*.wasm")
	require.NoError(t, err)
	require.NotEmpty(t, committed)
	fresh := ""
	if os.Getenv("OSTRAKA_REBUILD") != "" {
		fresh = t.TempDir()
		rebuild(t, fresh)
	}
	for _, name := range committed {
		bytes, err := os.ReadFile(name)
		require.NoError(t, err)
		_, found := builtin.ByDigest(wasm.Digest(bytes))
		require.True(t, found, "%s is embedded", name)
		require.LessOrEqual(t, len(bytes), builtin.MaxBytes, "%s is meant to stay small", name)
		if fresh != "" {
			built, err := os.ReadFile(filepath.Join(fresh, name))
			require.NoError(t, err)
			require.Equal(t, wasm.Digest(bytes), wasm.Digest(built), "run wasm/builtin/build.sh and commit %s", name)
		}
	}
}
