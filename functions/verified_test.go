package functions_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
)

func TestQuorumOutvotesALiar(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.work()
	cheat := w.agent(liar)
	job := w.submit(1500)
	done := w.swarm(job.ID, 100, w.agent(honest), w.agent(honest), w.agent(honest), cheat)
	require.Equal(t, functions.JobFinished, done.State, "%+v", done)
	require.Equal(t, int64(1500), done.Shards.Accepted)
	requireTruth(t, done, truth(rangeOf(1500)))
}
