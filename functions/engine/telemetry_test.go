package engine_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/functions/stepargs"
)

func TestTelemetry(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	a := w.agent(honest)
	battery := 80.0
	host := &fleet.Host{
		CPUPercent: 40, Load1: 1.5, MemoryTotalBytes: 1000, MemoryFreeBytes: 400, DiskTotalBytes: 5000, DiskFreeBytes: 1000,
		SentBytes: 70, ReceivedBytes: 90, Sandboxes: 3, BatteryPercent: &battery, Version: "1",
	}
	for range 3 {
		_, err := w.Heartbeat(ctx, a.id, fleet.Heartbeat{Host: host, Idle: &fleet.Idle{Code: "no_work", Text: "none"}, ShardsDone: 7})
		require.NoError(t, err)
	}
	_, err := w.Heartbeat(ctx, a.id, fleet.Heartbeat{})
	require.NoError(t, err)
	require.LessOrEqual(t, w.controlCount("select count(*) from agent_samples"), int64(2), "one a minute, and the minute may have changed")
	got, err := w.GetAgent(ctx, a.id)
	require.NoError(t, err)
	require.Equal(t, host, got.Host, "a heartbeat without figures leaves the last ones")
	require.Nil(t, got.Idle)
	points, q, err := w.AgentTelemetry(ctx, a.id, fleet.TelemetryQuery{To: time.Now().Add(time.Minute)})
	require.NoError(t, err)
	require.Equal(t, time.Minute, q.Step)
	require.NotEmpty(t, points)
	p := points[0]
	require.Equal(t, []float64{40, 40, 1.5, 1.5, 80}, []float64{p.CPUAvg, p.CPUMax, p.LoadAvg, p.LoadMax, *p.BatteryMin})
	require.Equal(t, []int64{1, 600, 600, 4000, 4000, 0, 0, 3}, []int64{p.Samples, p.MemoryAvg, p.MemoryMax, p.DiskAvg, p.DiskMax, p.Sent, p.Received, p.SandboxesMax})
	_, _, err = w.AgentTelemetry(ctx, uuid.New(), fleet.TelemetryQuery{})
	requireCode(t, err, "not_found")
}

// TestTelemetryIsRolledUp makes up samples of three hours yesterday and today.
func TestTelemetryIsRolledUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	a, silent := w.agent(honest), w.agent(honest)
	hour := time.Now().Truncate(time.Hour).Add(-3 * time.Hour)
	const sample = `insert into ostraka.agent_samples (agent_id, slot, at, cpu, load, memory, disk, sent, received, sandboxes)
		select $1, extract(epoch from at)::bigint / 60 % 1440, at, n % 60, 1, 100, 200, n * 10, 0, 1
		from (select n, $2::timestamptz + n * interval '1 minute' as at from generate_series(0, $3::int) n) s`
	w.sql(sample, a.id, hour, 119)
	w.sql(sample, silent.id, hour.Add(-24*time.Hour), 59) // nothing has come in its place for a day
	require.NoError(t, w.Retain(ctx, stepargs.RetentionArgs{}))
	require.NoError(t, w.Retain(ctx, stepargs.RetentionArgs{}), "again")
	require.Equal(t, int64(2), w.controlCount("select count(*) from agent_hours"))
	require.Zero(t, w.controlCount("select count(*) from agent_samples where agent_id = $1", silent.id))
	require.Equal(t, int64(120), w.controlCount("select count(*) from agent_samples where agent_id = $1", a.id))

	q := fleet.TelemetryQuery{From: hour, To: hour.Add(3 * time.Hour), Step: time.Hour}
	points, _, err := w.AgentTelemetry(ctx, a.id, q)
	require.NoError(t, err)
	require.Len(t, points, 2)
	require.True(t, points[0].At.Equal(hour))
	require.EqualValues(t, 60, points[0].Samples)
	require.InDelta(t, 29.5, points[0].CPUAvg, 0.01)
	require.InDelta(t, 59, points[0].CPUMax, 0.01)
	require.EqualValues(t, 590, points[0].Sent, "counters are told as what came within the hour")
	q.Step = 5 * time.Minute
	fine, _, err := w.AgentTelemetry(ctx, a.id, q)
	require.NoError(t, err)
	require.Len(t, fine, 24)
	require.EqualValues(t, 50, fine[1].Sent)

	// The same hour thirty days later takes the place of this one.
	w.sql("update ostraka.agent_hours set hour = hour - interval '30 days'")
	w.sql("update ostraka.telemetry_done set hour = $1", hour)
	w.sql("delete from ostraka.agent_samples where at >= $1", hour.Add(time.Hour))
	require.NoError(t, w.Retain(ctx, stepargs.RetentionArgs{}))
	require.Equal(t, int64(1), w.controlCount("select count(*) from agent_hours"), "one came anew, the other one was dropped")
}

func TestTelemetryQueries(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.agent(honest)
	now := time.Now()
	for name, c := range map[string]struct {
		q    fleet.TelemetryQuery
		step time.Duration
		code string
	}{
		"nothing said":        {fleet.TelemetryQuery{}, time.Minute, ""},
		"six hours":           {fleet.TelemetryQuery{From: now.Add(-6 * time.Hour)}, 5 * time.Minute, ""},
		"a month":             {fleet.TelemetryQuery{From: now.Add(-fleet.HoursKept)}, 24 * time.Hour, ""},
		"an hour last week":   {fleet.TelemetryQuery{From: now.Add(-170 * time.Hour), To: now.Add(-169 * time.Hour)}, time.Hour, ""},
		"as many as there be": {fleet.TelemetryQuery{From: now.Add(-fleet.MaxTelemetryPoints * time.Hour), To: now, Step: time.Hour}, time.Hour, ""},
		"one too many":        {fleet.TelemetryQuery{From: now.Add(-(fleet.MaxTelemetryPoints + 1) * time.Hour), To: now, Step: time.Hour}, 0, "bad_step"},
		"minutes last week":   {fleet.TelemetryQuery{From: now.Add(-170 * time.Hour), Step: time.Minute}, 0, "bad_step"},
		"half a minute":       {fleet.TelemetryQuery{Step: 30 * time.Second}, 0, "bad_step"},
		"an hour and a half":  {fleet.TelemetryQuery{Step: 90 * time.Minute}, 0, "bad_step"},
		"backwards":           {fleet.TelemetryQuery{From: now, To: now.Add(-time.Hour)}, 0, "bad_period"},
	} {
		t.Run(name, func(t *testing.T) {
			_, q, err := w.AgentTelemetry(t.Context(), a.id, c.q)
			if c.code != "" {
				requireCode(t, err, c.code)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.step, q.Step)
		})
	}
}
