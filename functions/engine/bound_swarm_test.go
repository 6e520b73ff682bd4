package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestASwarmWithABound is TestASwarm with a target error, rechecks by the server and two servers: the books are in order at every moment,
// none waits for another in a circle, and nothing that the liar said is in the answer.
func TestASwarmWithABound(t *testing.T) {
	t.Parallel()
	c := &court{}
	w := newWorld(t, shortLeases, withCourt(c))
	w.opened()
	w.work("one", "two")
	const shards = 2500
	job := w.submit(shards, bounded(1e-3))
	w.runWild(job, 6)
	require.Zero(t, w.job(job.ID).Shards.Provisional)
}
