package agent

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/wasm"
)

// packModule makes a function of the module of an example.
func packModule(t *testing.T) *bundle.Bundle {
	t.Helper()
	module, err := os.ReadFile("../examples/sieve/function.wasm")
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, bundle.ManifestName), []byte("name = \"double\"\nruntime = \"wasm\"\nmin_isolation = \"wasm\"\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, bundle.DefaultEntry), module, 0o600))
	b, err := bundle.Pack(dir)
	require.NoError(t, err)
	return b
}

// TestAFunctionInWebAssemblyHasASandboxOfItsOwn runs one on an agent whose sandbox for Python is no wall, and whose owner wants one.
func TestAFunctionInWebAssemblyHasASandboxOfItsOwn(t *testing.T) {
	t.Parallel()
	f, s := newFakeServer(t, 0)
	f.bundle = packModule(t)
	f.shards = []client.LeasedShard{{Shard: 0, Input: `{"from":"0","to":"1000"}`}, {Shard: 1, Input: `{"from":"5"}`}}
	o := testOptions(t, s)
	setPrefs(t, o, "allow_unsigned = true\nmin_isolation = \"linux\"\n")
	stop := start(t, o)
	f.untilResults(2)
	require.NoError(t, stop())
	good, bad := f.results[0], f.results[1]
	require.Equal(t, `{"primes":168}`, good.Output)
	require.Equal(t, "wasm", good.Isolation)
	require.Positive(t, good.Fuel)
	require.EqualValues(t, wasm.Meter, good.Meter)
	require.EqualValues(t, "error", bad.Status)
	require.Equal(t, "ExitCode", bad.Exception.Type)
	require.Contains(t, bad.StderrTail, "sieve: the input has no from and to")
	require.EqualValues(t, wasm.Meter, f.beats[0].Wishes.Meter)

	info, err := os.Stat(filepath.Join(o.DataDir, "compiled"))
	require.NoError(t, err)
	require.Equal(t, os.ModeDir|0o700, info.Mode())
	_, err = RemoveData(o.DataDir, false)
	require.NoError(t, err)
	require.NoDirExists(t, filepath.Join(o.DataDir, "compiled"))
}

// TestOwnersRefuseWebAssembly has one who lets none of it run.
func TestOwnersRefuseWebAssembly(t *testing.T) {
	t.Parallel()
	f, s := newFakeServer(t, 1)
	f.bundle = packModule(t)
	o := testOptions(t, s)
	setPrefs(t, o, "allow_unsigned = true\nwasm_denied = true\n")
	stop := start(t, o)
	f.until("the lease is returned", func() bool { return len(f.refusals) > 0 && len(f.beats) > 0 })
	require.NoError(t, stop())
	require.Equal(t, refusedRuntime, f.refusals[0].Code)
	require.Zero(t, f.beats[0].Wishes.Meter, "the server is told, and lends no more")
	require.Empty(t, f.results)
}
