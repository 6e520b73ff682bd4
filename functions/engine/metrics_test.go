package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/stepargs"
)

// TestAJobIsMeasuredOnce: what a job took is measured when it has ended, in parts, and not again.
func TestAJobIsMeasuredOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	job := w.submit(20, func(j *functions.NewJob) { j.Quorum = 2 })
	w.settleAll()
	_, err := w.GetMetrics(ctx, w.project, job.ID)
	require.ErrorIs(t, err, jobs.ErrNotMeasured)
	for range 2 {
		w.agent(honest).do(20)
	}
	w.settleAll()
	w.sql("update " + w.schema() + ".job_metrics set next_shard = 0, executions = 0, cpu_us = 0, wall_us = 0, output_bytes = 0, walls = '{}'")
	w.sql("update " + w.schema() + ".attempts set cpu_us = 1000000, wall_us = case when shard < 19 then 2000000 else 64000000 end, output_bytes = 10")
	args := stepargs.FollowUpArgs{Project: w.project, Job: job.ID}
	require.NoError(t, w.FollowUp(ctx, args))
	m, err := w.GetMetrics(ctx, w.project, job.ID)
	require.NoError(t, err)
	require.Equal(t, int64(20), m.Shards.Total)
	require.InDelta(t, 1, m.Shards.AcceptedShare, 1e-9)
	require.Equal(t, int64(40), m.Verification.Executions)
	require.InDelta(t, 2, m.Verification.ExecutionsPerShard, 1e-9)
	require.InDelta(t, 1, m.Verification.ErrorBound, 1e-9, "a quorum promises no number")
	require.InDelta(t, 40, m.Times.CPU, 1e-9)
	require.InDelta(t, 2*(19*2+64), m.Times.Wall, 1e-9)
	for what, q := range map[string][3]float64{"half": {m.Times.WallP50, 2, 2 * 1.4143}, "nine in ten": {m.Times.WallP90, 2, 2 * 1.4143}, "nearly all": {m.Times.WallP99, 64, 64 * 1.4143}} {
		require.GreaterOrEqual(t, q[0], q[1], what)
		require.LessOrEqual(t, q[0], q[2], what)
	}
	require.Equal(t, int64(200), m.Sizes.Outputs, "of accepted outputs")
	require.Equal(t, int64(20), m.Aggregate.Count)
	require.NotEmpty(t, m.Aggregate.Numbers)

	w.sql("update " + w.schema() + ".attempts set cpu_us = 5000000")
	require.NoError(t, w.FollowUp(ctx, args))
	again, err := w.GetMetrics(ctx, w.project, job.ID)
	require.NoError(t, err)
	require.Equal(t, m, again, "no attempt is looked at twice")
}
