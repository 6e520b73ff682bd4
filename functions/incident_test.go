package functions_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
)

// TestAnIncidentGrows: an agent that is caught again has more final results by then, and all are listed.
func TestAnIncidentGrows(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withCourt(&court{}))
	w.opened()
	job := w.submit(30, bounded(0.3))
	a := w.agent(honest)
	require.Equal(t, functions.JobFinished, w.workOff(job, 30, a).State)
	taint := functions.TaintArgs{Project: w.project, Agent: a.id, Reason: "an audit has failed"}
	for range 2 {
		require.NoError(t, w.Taint(t.Context(), taint))
		require.Equal(t, int64(30), w.count("select shards from incidents"))
		require.Equal(t, int64(1), w.count("select times from flags where kind = 'incident'"))
	}
	_, err := w.store.Pool.Exec(t.Context(), "update "+w.schema()+".incidents set shards = 10")
	require.NoError(t, err)
	require.NoError(t, w.Taint(t.Context(), taint))
	require.Equal(t, int64(30), w.count("select shards from incidents"))
}
