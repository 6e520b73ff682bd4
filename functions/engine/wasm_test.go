package engine_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/functions/tenant"
	"github.com/ostraka/ostraka/runtime/bundle"
	"github.com/ostraka/ostraka/wasm"
)

// pushModule pushes the module of an example as a function.
func (w *world) pushModule(name, manifest string) {
	w.t.Helper()
	module, err := os.ReadFile("../../examples/sieve/function.wasm")
	require.NoError(w.t, err)
	dir := w.t.TempDir()
	require.NoError(w.t, os.WriteFile(filepath.Join(dir, bundle.ManifestName), []byte("name = \""+name+"\"\nruntime = \"wasm\"\n"+manifest), 0o600))
	require.NoError(w.t, os.WriteFile(filepath.Join(dir, bundle.DefaultEntry), module, 0o600))
	b, err := bundle.Pack(dir)
	require.NoError(w.t, err)
	_, _, err = w.PushFunction(w.t.Context(), w.by, w.project, bytes.NewReader(b.Archive()), nil)
	require.NoError(w.t, err)
}

// TestModulesGoToAgentsThatCan: an agent is lent a function in WebAssembly where it has the server's meter, whatever it has for Python.
func TestModulesGoToAgentsThatCan(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	w.pushModule("count", "min_isolation = \"wasm\"\n")
	job := w.submit(4, func(j *functions.NewJob) { j.Function = "count" })
	w.settleAll()
	a := w.agent(honest)
	require.Nil(t, a.lease(1), "an agent of before")
	why := func() functions.Reason {
		e, err := w.Explain(ctx, w.project, job.ID)
		require.NoError(t, err)
		return e.Reasons[0]
	}
	require.Equal(t, "no_wasm", why().Code)
	require.Contains(t, why().Text, `at isolation "wasm"`)
	wish := func(meter int, least string) {
		t.Helper()
		_, err := w.Heartbeat(ctx, a.id, fleet.Heartbeat{Wishes: &fleet.AgentWishes{Meter: meter, MinIsolation: least}})
		require.NoError(t, err)
	}
	wish(wasm.Meter+1, "")
	require.Nil(t, a.lease(1), "it counts otherwise")
	require.Equal(t, "no_wasm", why().Code)
	wish(wasm.Meter, "container")
	require.Nil(t, a.lease(1), "its owner wants more")
	wish(wasm.Meter, "linux")
	got := a.lease(1)
	require.Equal(t, job.ID, got.Job)
	require.True(t, got.Manifest.IsWasm())
	wish(wasm.Meter, "")
	_, err := w.UpdateProject(ctx, w.by, w.project, tenant.ProjectChange{MinIsolation: new("container")}, 1)
	require.NoError(t, err)
	require.Nil(t, a.lease(1), "the project wants more")
	_, err = w.Heartbeat(ctx, a.id, fleet.Heartbeat{Wishes: &fleet.AgentWishes{}})
	require.NoError(t, err)
	shown, err := w.GetAgent(ctx, a.id)
	require.NoError(t, err)
	require.Zero(t, shown.Meter, "its owner lets none run any more")
}
