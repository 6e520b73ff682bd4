package engine_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/dispatch"
	"github.com/ostraka/ostraka/functions/tenant"
	"github.com/ostraka/ostraka/runtime/monitor/threshold"
)

// TestThresholdsTravelWithLeases sets a project's and a function's thresholds, and takes the project's away again.
func TestThresholdsTravelWithLeases(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.work()
	v := w.pushFunction("watched", "[monitor]\nprocesses = { critical = \"4\" }\n")
	require.Equal(t, "4", v.Manifest.Monitor.Processes.Critical)
	job := w.submit(20, func(j *functions.NewJob) { j.Function = "watched" })
	w.untilSplit(job.ID)
	a := w.agent(honest)
	p, err := w.GetProject(t.Context(), w.project)
	require.NoError(t, err)
	require.Nil(t, p.Monitor)
	want := &threshold.Rules{Memory: &threshold.Pair{Critical: "90%"}, Samples: 2}
	_, err = w.UpdateProject(t.Context(), w.by, w.project, tenant.ProjectChange{Monitor: &threshold.Rules{Samples: -1}}, p.Revision)
	requireCode(t, err, "bad_thresholds")
	p, err = w.UpdateProject(t.Context(), w.by, w.project, tenant.ProjectChange{Monitor: want}, p.Revision)
	require.NoError(t, err)
	require.Equal(t, want, p.Monitor)
	idem := functions.Idempotency{Key: uuid.NewString()}
	for range 2 { // the same lease the second time
		lease, err := w.Lease(t.Context(), a.id, dispatch.Poll{Most: 5, Wait: 0}, idem)
		require.NoError(t, err)
		require.Equal(t, want, lease.Monitor)
		require.Equal(t, "4", lease.Manifest.Monitor.Processes.Critical)
	}
	p, err = w.UpdateProject(t.Context(), w.by, w.project, tenant.ProjectChange{Monitor: &threshold.Rules{}}, p.Revision)
	require.NoError(t, err)
	require.Equal(t, &threshold.Rules{}, p.Monitor)
}
