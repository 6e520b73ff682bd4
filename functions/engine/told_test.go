package engine_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/aggregation"
)

// TestAFailureSaysWhatWasRaised holds that a person who reads the job, or one of its shards, learns what the function raised.
func TestAFailureSaysWhatWasRaised(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.submit(2)
	w.settleAll()
	for range 2 {
		a := w.agent(func(string) functions.Result { return raised("ValueError", "no number "+strings.Repeat("x", 1000)) })
		a.report(a.lease(2))
		w.settleAll()
	}
	done := w.job(job.ID)
	require.Equal(t, functions.JobFailed, done.State)
	require.Contains(t, done.Error, "2 of 2 shards failed: ValueError: no number xxx")
	require.Contains(t, done.Error, "…", "a long message is cut, and says so")
	require.Less(t, len(done.Error), 500)
	shard, err := w.GetShard(t.Context(), w.project, job.ID, 1)
	require.NoError(t, err)
	last := shard.Reasons[len(shard.Reasons)-1]
	require.EqualValues(t, "exception", last.Code)
	require.Contains(t, last.Text, "ValueError: no number")
}

// TestExplainAShardThatAllHaveTried has a function that never answers the same.
func TestExplainAShardThatAllHaveTried(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.submit(1)
	w.settleAll()
	for range 3 {
		a := w.agent(func(string) functions.Result { return ok(`"` + uuid.NewString() + `"`) })
		a.report(a.lease(1))
		w.settleAll()
	}
	e, err := w.Explain(t.Context(), w.project, job.ID)
	require.NoError(t, err)
	require.Equal(t, "tried_by_all", e.Reasons[0].Code, e)
}

func TestParametersThatTheAggregatorDoesNotAccept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, _, err := w.SubmitJob(t.Context(), w.by, w.project, functions.NewJob{
		Function: "numbers", Partition: rangeOf(3), Aggregator: "sum", Params: json.RawMessage(`{"x":1}`),
	}, functions.Idempotency{})
	requireCode(t, err, "bad_params")
	require.Contains(t, err.Error(), "sum")
}

// TestAnOutputThatABuiltInModuleCannotRead is between the function's limit and a record's: the answer must not just lack it.
func TestAnOutputThatABuiltInModuleCannotRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	large := `"` + strings.Repeat("x", 1<<20-100) + `"`
	a := w.agent(saysByObject(large))
	job := w.submit(1, func(j *functions.NewJob) { j.Quorum, j.Aggregator = 1, "count" })
	w.settleAll()
	lease := a.lease(1)
	_, err := w.PutOutput(t.Context(), a.id, lease.ID, a.results(lease.Shards)[0].OutputDigest, strings.NewReader(large))
	require.NoError(t, err)
	a.report(lease)
	w.settleAll()
	held := w.job(job.ID)
	require.Equal(t, functions.JobHeld, held.State)
	require.Contains(t, held.AggregationError, "the output of shard 0 is larger than")
	_, err = w.reaggregate(job.ID, aggregation.NewAggregation{Module: functions.NoAggregator}, functions.Idempotency{})
	require.NoError(t, err)
	w.settleAll()
	done := w.job(job.ID)
	require.Equal(t, functions.JobFinished, done.State, "its results stand without an answer over them")
	require.Nil(t, done.Aggregate)
}
