package recheck_test

import (
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
)

func TestMain(m *testing.M) {
	linux.MaybeLaunch() // the tests start this program again, as sandboxes
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
