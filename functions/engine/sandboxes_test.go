package engine_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/runtime/monitor/threshold"
)

func report(lease *functions.Lease, memory int64) fleet.SandboxReport {
	shard := int64(3)
	return fleet.SandboxReport{
		ID: uuid.Must(uuid.NewV7()), Lease: lease.ID, Level: "process", Shard: &shard, AgeMillis: 60_000,
		Sample: &threshold.Sample{At: time.Now(), MemoryBytes: memory, CPUPercent: 12.5, Network: threshold.NetworkNone, Processes: 3},
		Alerts: []threshold.Alert{{Metric: threshold.Memory, Level: threshold.Warning, Text: "memory was high"}},
	}
}

func (a *agent) beat(reports ...fleet.SandboxReport) fleet.Directives {
	a.w.t.Helper()
	d, err := a.w.Heartbeat(a.w.t.Context(), a.id, fleet.Heartbeat{Sandboxes: reports})
	require.NoError(a.w.t, err)
	return d
}

// TestSandboxesAreKeptAsAgentsReportThem follows one from its first heartbeat to its end by order.
func TestSandboxesAreKeptAsAgentsReportThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.work()
	other, stranger := w.newProject("other")
	a, b := w.agent(honest), w.agent(honest)
	job := w.submit(20)
	w.untilSplit(job.ID)
	lease := a.lease(5)
	r := report(lease, 1<<20)
	before := time.Now()
	require.Empty(t, a.beat(r).Terminate)
	after := time.Now()

	all, err := w.ListSandboxes(t.Context(), fleet.SandboxFilter{Running: true}, functions.ListPage{Limit: 10})
	require.NoError(t, err)
	require.Len(t, all, 1)
	got := all[0]
	require.Equal(t, []any{r.ID, a.id, lease.ID, w.project, job.ID, "numbers", 1, "process", "running", int64(3)},
		[]any{got.ID, got.Agent, got.Lease, got.Project, got.Job, got.Function, got.Version, got.Level, got.State, *got.Shard})
	require.WithinRange(t, got.StartedAt.Add(time.Minute), before.Add(-time.Millisecond), after, "it was a minute old")
	require.Equal(t, int64(1<<20), got.Sample.MemoryBytes)
	require.Equal(t, "memory was high", got.Alerts[0].Text)

	// Others neither see it nor change it.
	for filter, want := range map[fleet.SandboxFilter]int{
		{Project: w.project}: 1, {Project: other}: 0, {Agent: a.id}: 1, {Agent: b.id}: 0, {Project: w.project, Agent: b.id}: 0,
		{Job: job.ID}: 1, {Job: uuid.New()}: 0, {Function: "numbers"}: 1, {Function: "number"}: 0, {Job: job.ID, Function: "numbers", Agent: a.id}: 1,
	} {
		list, err := w.ListSandboxes(t.Context(), filter, functions.ListPage{Limit: 10})
		require.NoError(t, err)
		require.Len(t, list, want)
	}
	for _, filter := range []fleet.SandboxFilter{{Agent: uuid.New()}, {Project: w.project, Agent: uuid.New()}, {Project: other, Agent: a.id}} {
		_, err := w.ListSandboxes(t.Context(), filter, functions.ListPage{Limit: 10})
		requireCode(t, err, "not_found")
	}
	_, err = w.GetSandbox(t.Context(), other, r.ID)
	requireCode(t, err, "not_found")
	_, err = w.SandboxSamples(t.Context(), other, r.ID, time.Time{})
	requireCode(t, err, "not_found")
	_, err = w.TerminateSandbox(t.Context(), stranger, other, r.ID, true)
	requireCode(t, err, "not_found")
	theirs := b.lease(5)
	forged := report(theirs, 9)
	forged.ID = r.ID
	b.beat(forged, report(lease, 9))
	got, err = w.GetSandbox(t.Context(), w.project, r.ID)
	require.NoError(t, err)
	require.Equal(t, a.id, got.Agent)
	require.Equal(t, int64(1<<20), got.Sample.MemoryBytes)
	all, err = w.ListSandboxes(t.Context(), fleet.SandboxFilter{}, functions.ListPage{Limit: 10})
	require.NoError(t, err)
	require.Len(t, all, 1, "nobody reports a sandbox of another's lease")

	// It is ordered to end, softly and then by force.
	for _, force := range []bool{false, false, true, false} {
		got, err = w.TerminateSandbox(t.Context(), w.by, w.project, r.ID, force)
		require.NoError(t, err)
	}
	require.Equal(t, "force", got.Terminate)
	require.Equal(t, int64(2), w.audited("sandbox.terminate"))
	r.Sample.MemoryBytes = 2 << 20
	require.Equal(t, []fleet.TerminateOrder{{Sandbox: r.ID, Force: true}}, a.beat(r).Terminate)
	require.Empty(t, b.beat().Terminate)
	r.Ended, r.EndReason = true, "ordered"
	require.Empty(t, a.beat(r).Terminate)
	r.Ended = false
	a.beat(r)
	got, err = w.GetSandbox(t.Context(), uuid.Nil, r.ID)
	require.NoError(t, err)
	require.Equal(t, "ended", got.State, "what has ended stays so")
	require.Equal(t, "ordered", got.EndReason)
	stats, err := w.Stats(t.Context())
	require.NoError(t, err)
	require.Zero(t, stats.Sandboxes.Running)
}

// TestSandboxesEndWithTheirLease shows one as ended as soon as its lease is, unless heartbeats go on naming it.
func TestSandboxesEndWithTheirLease(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.work()
	a := w.agent(honest)
	job := w.submit(20)
	w.untilSplit(job.ID)
	lease := a.lease(5)
	r := report(lease, 1)
	a.beat(r)
	a.report(lease) // every shard, which ends the lease
	running := func() []fleet.Sandbox {
		list, err := w.ListSandboxes(t.Context(), fleet.SandboxFilter{Running: true}, functions.ListPage{Limit: 10})
		require.NoError(t, err)
		stats, err := w.Stats(t.Context())
		require.NoError(t, err)
		require.Len(t, list, int(stats.Sandboxes.Running))
		return list
	}
	require.Empty(t, running())
	got, err := w.GetSandbox(t.Context(), w.project, r.ID)
	require.NoError(t, err)
	require.Equal(t, "ended", got.State)
	require.Equal(t, "its lease has ended", got.EndReason)
	require.NotNil(t, got.EndedAt)

	a.beat(r) // the agent says that it is still there
	require.Len(t, running(), 1)
	r.Ended, r.EndReason = true, "its lease is done"
	a.beat(r)
	require.Empty(t, running())

	// Long after, when nobody knows the lease any more, it has not come back.
	other := report(a.lease(5), 1)
	a.beat(other)
	_, err = w.store.Pool.Exec(t.Context(), "delete from ostraka.leases where id = $1", other.Lease)
	require.NoError(t, err)
	require.Empty(t, running())
}

// TestSamplesGetCoarser keeps peaks of what is old, and forgets what is older.
func TestSamplesGetCoarser(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.work()
	a := w.agent(honest)
	job := w.submit(5)
	w.untilSplit(job.ID)
	r := report(a.lease(5), 0)
	a.beat(r)
	_, err := w.store.Pool.Exec(t.Context(), `insert into ostraka.sandbox_samples (sandbox_id, at, cpu_percent, memory_bytes, workspace_bytes, network_bytes, network, processes, output_bytes)
		select $1, date_bin('5 minutes', now(), 'epoch') - interval '2 hours' + n * interval '10 seconds', n, n * 100, 0, 0, 'none', 1, 0 from generate_series(0, 59) n`, r.ID)
	require.NoError(t, err)
	for range 2 { // the second time there is nothing to do
		require.NoError(t, w.Retain(t.Context(), stepargs.RetentionArgs{}))
		samples, err := w.SandboxSamples(t.Context(), w.project, r.ID, time.Time{})
		require.NoError(t, err)
		require.Len(t, samples, 3)
		require.Equal(t, []bool{true, true, false}, []bool{samples[0].Coarse, samples[1].Coarse, samples[2].Coarse})
		require.Equal(t, []int64{2900, 5900}, []int64{samples[0].MemoryBytes, samples[1].MemoryBytes})
	}
	_, err = w.store.Pool.Exec(t.Context(), "update ostraka.sandboxes set seen_at = now() - $1::interval", fleet.SandboxTTL+time.Minute)
	require.NoError(t, err)
	require.NoError(t, w.Retain(t.Context(), stepargs.RetentionArgs{}))
	_, err = w.GetSandbox(t.Context(), w.project, r.ID)
	requireCode(t, err, "not_found")
	w.kill(everything())
	w.release(everything())
	_, err = w.store.Pool.Exec(t.Context(), "update ostraka.kill_switches set off_at = now() - $1::interval", fleet.SwitchTTL+time.Minute)
	require.NoError(t, err)
	require.NoError(t, w.Retain(t.Context(), stepargs.RetentionArgs{}))
	var left int
	require.NoError(t, w.store.Control(t.Context(), func(tx pgx.Tx) error {
		return tx.QueryRow(t.Context(), "select count(*) from kill_switches").Scan(&left)
	}))
	require.Zero(t, left)
}

// TestReportsAreChecked takes what just fits, and refuses one more.
func TestReportsAreChecked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.agent(honest)
	lease := &functions.Lease{ID: uuid.New()}
	many := func(n int) (list []fleet.SandboxReport) {
		for range n {
			list = append(list, report(lease, 1))
		}
		return list
	}
	with := func(change func(*fleet.SandboxReport)) []fleet.SandboxReport {
		list := many(1)
		change(&list[0])
		return list
	}
	beat := func(reports []fleet.SandboxReport) error {
		_, err := w.Heartbeat(t.Context(), a.id, fleet.Heartbeat{Sandboxes: reports})
		return err
	}
	require.NoError(t, beat(many(fleet.MaxBeatSandboxes)))
	requireCode(t, beat(many(fleet.MaxBeatSandboxes+1)), "bad_heartbeat")
	for n, fits := range map[int]bool{fleet.MaxBeatAlerts: true, fleet.MaxBeatAlerts + 1: false} {
		err := beat(with(func(r *fleet.SandboxReport) { r.Alerts = make([]threshold.Alert, n) }))
		require.Equal(t, fits, err == nil, err)
	}
	for n, fits := range map[int]bool{fleet.MaxEndReason: true, fleet.MaxEndReason + 1: false} {
		err := beat(with(func(r *fleet.SandboxReport) { r.EndReason = strings.Repeat("ü", n) }))
		require.Equal(t, fits, err == nil, err)
	}
	twice := many(1)
	requireCode(t, beat(append(twice, twice...)), "bad_heartbeat")
	requireCode(t, beat(with(func(r *fleet.SandboxReport) { r.Level = "strong" })), "bad_heartbeat")
	requireCode(t, beat(with(func(r *fleet.SandboxReport) { r.AgeMillis = -1 })), "bad_heartbeat")
	_, err := w.Kill(t.Context(), w.server, everything(), strings.Repeat("ü", fleet.MaxKillReason+1), false)
	requireCode(t, err, "bad_reason")
	_, err = w.Kill(t.Context(), w.server, everything(), strings.Repeat("ü", fleet.MaxKillReason), false)
	require.NoError(t, err)
}
