package functions_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/testenv"
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
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for i := range 6 {
		answer := honest
		if i == 0 {
			answer = liar
		}
		a := w.agent(answer)
		for poll := range 2 {
			wild := wildAgent{agent: a, random: rand.New(rand.NewPCG(uint64(i), uint64(poll)))}
			all.Go(func() {
				if err := wild.run(ctx); err != nil {
					t.Errorf("agent %d: %v", i, err)
				}
			})
		}
	}
	testenv.Eventually(t, func() bool {
		w.check(job.ID)
		return w.job(job.ID).State.Ended()
	}, "the job ends")
	cancel()
	all.Wait()
	done := w.job(job.ID)
	require.Equal(t, functions.JobFinished, done.State, done.Error)
	requireTruth(t, done, truth(rangeOf(shards)))
	require.Zero(t, done.Shards.Provisional)
	w.check(job.ID)
	require.Zero(t, w.count("select deadlocks from pg_stat_database where datname = current_database()"), "all steps lock in one order")
}
