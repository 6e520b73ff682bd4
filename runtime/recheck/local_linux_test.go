package recheck_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/runtime/harness"
	"github.com/ostraka/ostraka/runtime/linux"
	"github.com/ostraka/ostraka/runtime/python"
	"github.com/ostraka/ostraka/runtime/recheck"
	"github.com/ostraka/ostraka/testenv"
	"github.com/ostraka/ostraka/wasm/runner"
)

func TestMain(m *testing.M) {
	linux.MaybeLaunch() // the tests start this program again, as sandboxes
	runner.MaybeRun()
	testenv.Main(m)
}

// TestSandboxesOfThisMachineAreKept: those of one function and project serve its next batch, where all of their processes are known.
func TestSandboxesOfThisMachineAreKept(t *testing.T) {
	dir := t.TempDir()
	const source = "import os\nBORN = os.urandom(8).hex()\ndef handler(x, context): return [BORN, context.seed]\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.py"), []byte(source), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, bundle.ManifestName), []byte("name = \"f\"\n"), 0o600))
	code, err := bundle.Pack(dir)
	require.NoError(t, err)
	tree, err := python.Open(t.Context(), python.Options{})
	require.NoError(t, err)
	x, err := recheck.NewLocal(t.Context(), recheck.LocalConfig{Python: tree, Dir: t.TempDir(), Concurrent: 2, Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	ask := func(project uuid.UUID) (born string) {
		batch := recheck.Batch{Project: project, Job: uuid.New(), Bundle: code, Shards: []recheck.Shard{{Number: 3, Input: []byte("1")}}}
		results, err := x.Recheck(t.Context(), batch)
		require.NoError(t, err)
		var got []json.RawMessage
		require.NoError(t, json.Unmarshal([]byte(results[0].Output), &got), "%+v", results[0].Exception)
		seed, err := json.Marshal(harness.Seed(code.Digest, batch.Job.String(), 3))
		require.NoError(t, err)
		require.Equal(t, string(seed), string(got[1]), "the seed is of the batch's own job")
		return string(got[0])
	}
	one := uuid.New()
	first := ask(one)
	again, other := ask(one), ask(uuid.New())
	require.NotEqual(t, first, other, "another project's")
	if x.Describe().Level == bundle.Linux && os.Geteuid() == 0 {
		require.Equal(t, first, again, "the same sandbox")
	}
	require.NoError(t, x.Close())
}

// TestModulesAreExecutedAgain: functions in WebAssembly by a runner of their own, and all others as before.
func TestModulesAreExecutedAgain(t *testing.T) {
	dir := t.TempDir()
	module, err := os.ReadFile("../../examples/sieve/function.wasm")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, bundle.DefaultEntry), module, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, bundle.ManifestName), []byte("name = \"f\"\nruntime = \"wasm\"\n"), 0o600))
	code, err := bundle.Pack(dir)
	require.NoError(t, err)
	modules, err := recheck.NewModules(filepath.Join(t.TempDir(), "compiled"), 1, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	python := &noted{}
	x := &recheck.ByRuntime{Executor: python, Modules: modules}
	batch := recheck.Batch{Project: uuid.New(), Job: uuid.New(), Bundle: code, Shards: []recheck.Shard{
		{Number: 3, Input: []byte(`{"from":"0","to":"1000"}`)}, {Number: 4, Input: []byte(`{}`)},
	}}
	for range 2 { // the second time by a sandbox that has rested
		results, err := x.Recheck(t.Context(), batch)
		require.NoError(t, err)
		require.Equal(t, `{"primes":168}`, results[0].Output)
		require.Equal(t, harness.StatusError, results[1].Status)
		batch.Job = uuid.New()
	}
	require.Zero(t, python.batches)
	require.Equal(t, bundle.Wasm, x.DescribeFor(&code.Manifest).Level)
	require.Equal(t, bundle.Container, x.DescribeFor(&bundle.Manifest{}).Level)
	batch.Bundle = &bundle.Bundle{}
	_, err = x.Recheck(t.Context(), batch)
	require.NoError(t, err)
	require.Equal(t, 1, python.batches)
	require.NoError(t, x.Close())
}

// noted counts what it is asked.
type noted struct {
	recheck.Executor
	batches int
}

func (n *noted) Recheck(context.Context, recheck.Batch) ([]harness.Result, error) {
	n.batches++
	return nil, nil
}

func (n *noted) Describe() recheck.Description { return recheck.Description{Level: bundle.Container} }

func (n *noted) Close() error { return nil }
