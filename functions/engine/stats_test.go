package engine_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/engine"
	"github.com/ostraka/ostraka/functions/jobs"
	jobsql "github.com/ostraka/ostraka/functions/jobs/sql"
)

// TestStatsOfAJob: quantiles are of accepted attempts alone, and are values that were measured; the slowest and the largest are named.
func TestStatsOfAJob(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	job := w.submit(1000, func(j *functions.NewJob) { j.Quorum = 2 })
	w.settleAll()
	none, err := w.JobStats(ctx, w.project, job.ID)
	require.NoError(t, err)
	require.Equal(t, jobs.JobStats{Slowest: []jobs.ShardStats{}, Largest: []jobs.ShardStats{}}, none)
	for range 2 {
		w.agent(honest).do(1000)
	}
	w.settleAll()
	schema := w.schema()
	w.sql("update " + schema + ".attempts a set wall_us = case when accepted then 1000000 * (shard + 1) else 9e15 end, cpu_us = case when accepted then 1000 else 9e15 end, " +
		"peak_rss = case when accepted then 5000 else 9e15 end, output_bytes = case when accepted then 2000 - shard else 9e15 end " +
		"from (select b.job_id as of_job, b.shard as of_shard, b.agent_id as of_agent, s.agent_id = b.agent_id as accepted " +
		"from " + schema + ".attempts b join " + schema + ".shards s on s.job_id = b.job_id and s.number = b.shard) x " +
		"where of_job = a.job_id and of_shard = a.shard and of_agent = a.agent_id")
	stats, err := w.JobStats(ctx, w.project, job.ID)
	require.NoError(t, err)
	require.Equal(t, int64(1000), stats.Accepted)
	require.Equal(t, int64(1000), stats.LookedAt)
	require.Equal(t, jobs.TimeQuantiles{P50: 500, P90: 900, P99: 990, Max: 1000}, stats.Wall)
	require.Equal(t, jobs.TimeQuantiles{P50: 0.001, P90: 0.001, P99: 0.001, Max: 0.001}, stats.CPU)
	require.Equal(t, jobs.SizeQuantiles{P50: 5000, P90: 5000, P99: 5000, Max: 5000}, stats.Memory)
	require.Equal(t, jobs.SizeQuantiles{P50: 1500, P90: 1900, P99: 1990, Max: 2000}, stats.Output)
	require.Len(t, stats.Slowest, jobs.StatsTop)
	require.Len(t, stats.Largest, jobs.StatsTop)
	for i := range jobs.StatsTop {
		slow, large := stats.Slowest[i], stats.Largest[i]
		require.Equal(t, jobs.ShardStats{Shard: int64(999 - i), Agent: slow.Agent, Wall: float64(1000 - i), CPU: 0.001, Memory: 5000, Output: int64(1001 + i)}, slow)
		require.Equal(t, int64(i), large.Shard)
		require.Equal(t, int64(2000-i), large.Output)
		require.NotEqual(t, uuid.Nil, slow.Agent)
	}
	_, err = w.JobStats(ctx, w.project, uuid.New())
	var refused *functions.Error
	require.ErrorAs(t, err, &refused)
	require.Equal(t, functions.KindNotFound, refused.Kind)
}

// TestStatsCostTheDatabaseSoMuchAtMost: a project has one request at a time, other projects are not kept waiting, and one that takes too
// long is given up.
func TestStatsCostTheDatabaseSoMuchAtMost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	job := w.submit(4)
	other, by := w.newProject("other")
	_, _, err := w.PushFunction(ctx, by, other, bytes.NewReader(w.pack("numbers", "")), nil)
	require.NoError(t, err)
	elsewhere, _, err := w.SubmitJob(ctx, by, other, functions.NewJob{Function: "numbers", Partition: rangeOf(4), Quorum: 1}, functions.Idempotency{})
	require.NoError(t, err)
	looking, err := w.store.Pool.Begin(ctx) // as a request that goes on does
	require.NoError(t, err)
	defer func() { _ = looking.Rollback(context.WithoutCancel(ctx)) }()
	_, err = looking.Exec(ctx, "set local search_path = "+w.schema())
	require.NoError(t, err)
	_, err = looking.Exec(ctx, jobsql.TryStats.SQL)
	require.NoError(t, err)
	_, err = w.JobStats(ctx, w.project, job.ID)
	require.ErrorIs(t, err, jobs.ErrStatsBusy)
	_, err = w.JobStats(ctx, other, elsewhere.ID)
	require.NoError(t, err)
	require.NoError(t, looking.Rollback(ctx))

	slow, err := w.store.Pool.Begin(ctx)
	require.NoError(t, err)
	defer func() { _ = slow.Rollback(context.WithoutCancel(ctx)) }()
	_, err = slow.Exec(ctx, "lock table "+w.schema()+".attempts in access exclusive mode") // what reads it waits for as long as it may
	require.NoError(t, err)
	o := w.options
	o.StatsTime = 50 * time.Millisecond
	_, err = engine.New(o).JobStats(ctx, w.project, job.ID)
	require.ErrorIs(t, err, jobs.ErrStatsTooSlow)
	require.NoError(t, slow.Rollback(ctx))
	_, err = w.JobStats(ctx, w.project, job.ID)
	require.NoError(t, err, "the next one is not held up by what was given up")
}
