package modules_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/wasm"
	"github.com/ostraka/ostraka/wasm/runner"
)

func TestMain(m *testing.M) {
	runner.MaybeRun()
	os.Exit(m.Run())
}

// build compiles an example as its README says.
func build(t *testing.T, dir string) []byte {
	t.Helper()
	out := filepath.Join(t.TempDir(), "module.wasm")
	cmd := exec.Command("go", "build", "-o", out, "./"+dir)
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=")
	text, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", text)
	module, err := os.ReadFile(out)
	require.NoError(t, err)
	return module
}

func newPool(t *testing.T) *wasm.Pool {
	t.Helper()
	pool, err := wasm.NewPool(wasm.Options{
		CacheDir: filepath.Join(t.TempDir(), "modules"),
		// A runner is this binary again: under the race detector it compiles slowly.
		Limits: wasm.Limits{Compile: wasm.MaxCompile},
	})
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	return pool
}

// committed reads an example that is committed beside its source.
func committed(t *testing.T, name string) []byte {
	t.Helper()
	module, err := os.ReadFile(filepath.Join(name, filepath.Base(name)+".wasm"))
	require.NoError(t, err)
	return module
}

// Every example passes the trial that `ostraka module test` makes, and answers
// what its records, in testdata, ask for.
func TestExamples(t *testing.T) {
	pool := newPool(t)
	for name, c := range map[string]struct {
		kind   wasm.Kind
		params string
		module func(*testing.T, string) []byte
	}{
		"histogram": {wasm.KindAggregator, `{"field":"ms","width":10}`, build},
		"stats":     {wasm.KindAggregator, `{"field":"ms"}`, committed},
		"agree":     {wasm.KindValidator, `{"quorum":2}`, committed},
		"proved":    {wasm.KindValidator, `{}`, committed},
		"outlier":   {wasm.KindHeuristic, `{"usual":12}`, committed},
		"refine":    {wasm.KindPlanner, `{"points":3}`, build},

		"../planners/refine":  {wasm.KindPlanner, `{"points":3,"shrink":4}`, committed},
		"../planners/tidy":    {wasm.KindPlanner, `{"min":0,"max":10}`, committed},
		"../planners/summary": {wasm.KindPlanner, `{}`, committed},
	} {
		t.Run(name, func(t *testing.T) {
			records, err := os.ReadFile(filepath.Join(name, "testdata", "records.jsonl"))
			require.NoError(t, err)
			expected, err := os.ReadFile(filepath.Join(name, "testdata", "expected.jsonl"))
			require.NoError(t, err)
			trial := wasm.Trial{
				Use:  wasm.Use{Pool: pool, Project: "p", Job: "j", Params: json.RawMessage(c.params)},
				Kind: c.kind, Records: wasm.SplitRecords(records),
			}
			report, err := trial.Try(t.Context(), c.module(t, name))
			require.NoError(t, err)
			require.NoError(t, report.Against(expected))
			require.True(t, report.Passed(), "%+v", report)
			require.Equal(t, filepath.Base(name), report.Description.Name)
			require.Error(t, report.Description.CheckParams(json.RawMessage(`{"unknown":1}`)))
		})
	}
}

func TestHistogram(t *testing.T) {
	module := build(t, "histogram")
	pool := newPool(t)

	// As an upload does.
	info, err := pool.Check(t.Context(), "p", module, wasm.KindAggregator)
	require.NoError(t, err)
	require.Equal(t, wasm.Digest(module), info.Digest)

	a := wasm.Aggregation{Use: wasm.Use{Pool: pool, Project: "p", Job: "j", Module: wasm.FromBytes(module), Params: json.RawMessage(`{"field":"ms","width":10}`)}}
	var partials []wasm.Partial
	for page := range 3 {
		var items []wasm.Item
		for i := range 100 {
			ms := strconv.Itoa(page*10 + i%20)
			items = append(items, wasm.Item{ID: ms, Result: []byte(`{"ms":` + ms + `}`)})
		}
		items = append(items, wasm.Item{ID: "x", Result: []byte(`null`)})
		p, _, err := a.Fold(t.Context(), wasm.Each(items))
		require.NoError(t, err)
		partials = append(partials, p)
	}
	merged, _, err := a.Merge(t.Context(), wasm.Each(partials[1:]))
	require.NoError(t, err)
	f, _, err := a.Final(t.Context(), wasm.Each([]wasm.Partial{partials[0], merged}))
	require.NoError(t, err)
	require.JSONEq(t, `{"0":50,"10":100,"20":100,"30":50}`, string(f.Value))
	require.EqualValues(t, 303, f.N)
	require.Equal(t, "303 results in 4 buckets, 3 without a number", f.Summary)
}
