package engine_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

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

// counting is an agent with a meter.
func (w *world) counting(meter int, answer func(input string) functions.Result) *agent {
	w.t.Helper()
	a := w.agent(answer)
	_, err := w.Heartbeat(w.t.Context(), a.id, fleet.Heartbeat{Wishes: &fleet.AgentWishes{Meter: meter}})
	require.NoError(w.t, err)
	return a
}

// TestNoShardIsHeldForAnotherMeter: an agent that counts otherwise is lent no function in WebAssembly, and so nothing waits for it, neither under
// a bound nor under a quorum.
func TestNoShardIsHeldForAnotherMeter(t *testing.T) {
	t.Parallel()
	for name, policy := range map[string]func(*functions.NewJob){"bound": bounded(1e-3), "quorum": func(j *functions.NewJob) { j.Quorum = 2 }} {
		w := newWorld(t, shared(time.Hour))
		w.pushModule("count", "")
		job := w.submit(1000, func(j *functions.NewJob) { policy(j); j.Function = "count" })
		w.settleAll()
		quick := w.counting(wasm.Meter, honest)
		w.counting(99, honest)
		w.there()
		n, _ := quick.takeAll()
		require.Equal(t, 1000, n, name)
		w.check(job.ID)
	}
}

// TestUsableAgentsHaveTheServersMeter: a shard that waits for another opinion does not wait for an agent that counts otherwise.
func TestUsableAgentsHaveTheServersMeter(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pushModule("count", "")
	job := w.submit(1, func(j *functions.NewJob) { j.Quorum, j.Function = 2, "count" })
	w.settleAll()
	w.counting(99, honest)
	for _, answer := range []func(string) functions.Result{honest, liar} {
		require.Equal(t, 1, w.counting(wasm.Meter, answer).do(1))
	}
	w.there()
	w.settleAll()
	e, err := w.Explain(t.Context(), w.project, job.ID)
	require.NoError(t, err)
	require.Equal(t, "tried_by_all", e.Reasons[0].Code, e)
	require.Contains(t, e.Reasons[0].Text, "every agent that can be used (2) has tried")
}
