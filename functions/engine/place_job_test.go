package engine_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	jobssql "github.com/ostraka/ostraka/functions/jobs/sql"
	"github.com/ostraka/ostraka/functions/review"
	"github.com/ostraka/ostraka/functions/store"
)

// TestAJobIsWhereItsShardsPutIt goes through every pair of a job's state and the state of a shard that changes, with an aggregation that
// works and with one that has failed.
func TestAJobIsWhereItsShardsPutIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.submit(2)
	w.settleAll()
	ended := []functions.JobState{functions.JobSplitting, functions.JobFinished, functions.JobFailed, functions.JobCancelled}
	moving := []functions.JobState{functions.JobRunning, functions.JobReview, functions.JobHeld, functions.JobAggregating}
	// The second shard of the job is accepted.
	places := map[functions.ShardState]struct{ works, failed functions.JobState }{
		functions.ShardOpen:      {functions.JobRunning, functions.JobRunning},
		functions.ShardReview:    {functions.JobReview, functions.JobReview},
		functions.ShardAccepted:  {functions.JobRunning, functions.JobHeld},
		functions.ShardFailed:    {functions.JobRunning, functions.JobHeld},
		functions.ShardCancelled: {functions.JobRunning, functions.JobHeld},
	}
	place := func(state functions.JobState, shard functions.ShardState, aggregation functions.AggregationState) (now functions.JobState) {
		require.NoError(t, w.store.Project(t.Context(), w.project, func(tx *store.Tx) error {
			counts := map[functions.ShardState]int{functions.ShardAccepted: 1}
			counts[shard]++
			_, err := tx.Exec(t.Context(), "update pages set open = $2, accepted = $3, review = $4, failed = $5, cancelled = $6 where job_id = $1", job.ID,
				counts[functions.ShardOpen], counts[functions.ShardAccepted], counts[functions.ShardReview], counts[functions.ShardFailed], counts[functions.ShardCancelled])
			require.NoError(t, err)
			_, err = tx.Exec(t.Context(), "update aggregations set state = $2 where job_id = $1", job.ID, string(aggregation))
			require.NoError(t, err)
			_, err = tx.Exec(t.Context(), "update jobs set state = $2, finished_at = case when $2 in ('finished', 'failed', 'cancelled') then now() end where id = $1", job.ID, string(state))
			require.NoError(t, err)
			_, _, err = store.Value[functions.JobState](t.Context(), tx, jobssql.PlaceJob, job.ID)
			require.NoError(t, err)
			return tx.QueryRow(t.Context(), "select state from jobs where id = $1", job.ID).Scan(&now)
		}))
		return now
	}
	for shard, want := range places {
		for _, state := range ended {
			require.Equal(t, state, place(state, shard, functions.AggregationFolding), "a job that is %s stays so, with a shard %s", state, shard)
			require.Equal(t, state, place(state, shard, functions.AggregationFailed), "a job that is %s stays so, with a shard %s", state, shard)
		}
		for _, state := range moving {
			works := want.works
			if state == functions.JobAggregating && works == functions.JobRunning && shard != functions.ShardOpen {
				works = functions.JobAggregating // nothing has come up that folding does not know
			}
			require.Equal(t, works, place(state, shard, functions.AggregationFolding), "%s, with a shard %s", state, shard)
			require.Equal(t, want.failed, place(state, shard, functions.AggregationFailed), "%s, with a shard %s, and the aggregation failed", state, shard)
		}
	}
}

// TestAJobOfAFunctionThatGivesNoAnswerTwiceWaitsForPeople: all results are accepted provisionally and folded before the server finds at
// the audits that nothing can be said about them.
func TestAJobOfAFunctionThatGivesNoAnswerTwiceWaitsForPeople(t *testing.T) {
	t.Parallel()
	for name, unsteady := range map[string]int64{"all shards": 12, "one shard": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var clock atomic.Int64
			now := func(input string) functions.Result {
				if unsteady == 1 && !strings.Contains(input, `"18446744073709551616"`) { // not the first
					return honest(input)
				}
				return ok(fmt.Sprintf(`{"n":1,"sum":%d}`, clock.Add(1)))
			}
			w := newWorld(t, withCourt(&court{answer: func(input string, _ uint32) functions.Result { return now(input) }}))
			w.opened()
			job := w.submit(12, bounded(1e-3))
			w.settleAll()
			agents := []*agent{w.agent(now), w.agent(now)}
			done := w.workOff(job, 6, agents...)
			require.Equal(t, functions.JobReview, done.State, "%+v", done)
			require.Equal(t, unsteady, done.Shards.Review)
			w.requireUncharged(agents)
			w.requireQuiet()
			e, err := w.Explain(t.Context(), w.project, job.ID)
			require.NoError(t, err)
			require.NotContains(t, jsonOf(t, e), "All shards are settled")
			for n := range int64(12) {
				if n < unsteady {
					_, err := w.ResolveShard(t.Context(), w.by, w.project, job.ID, n, review.Resolution{Decision: review.ResolveFail, Reason: "it reads the clock"})
					require.NoError(t, err)
				}
			}
			w.settleAll()
			done = w.job(job.ID)
			require.Equal(t, functions.JobFailed, done.State, "the job ends when everything is decided")
			require.Equal(t, 12-unsteady, done.Shards.Accepted)
			w.check(job.ID)
		})
	}
}
