package engine_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/aggregation"
	"github.com/ostraka/ostraka/functions/archive"
	archivesql "github.com/ostraka/ostraka/functions/archive/sql"
	auditsql "github.com/ostraka/ostraka/functions/auditlog/sql"
	"github.com/ostraka/ostraka/functions/engine"
	"github.com/ostraka/ostraka/functions/jobs"
	jobsql "github.com/ostraka/ostraka/functions/jobs/sql"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/planner"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/migrations"
)

// packsAtOnce has attempts packed as soon as their job has ended.
func packsAtOnce(o *engine.Options) { o.PackAfter = time.Microsecond }

// packEnded packs what there is to pack.
func (w *world) packEnded() {
	w.t.Helper()
	require.NoError(w.t, w.Pack(w.t.Context(), stepargs.PackArgs{}))
}

// seen is what readers are told of the attempts of a job.
func (w *world) seen(job uuid.UUID) map[string]any {
	w.t.Helper()
	ctx := w.t.Context()
	all := map[string]any{}
	keep := func(name string, value any, err error) {
		w.t.Helper()
		require.NoError(w.t, err, name)
		text, err := json.Marshal(value)
		require.NoError(w.t, err)
		all[name] = string(text)
	}
	j, err := w.GetJob(ctx, w.project, job)
	keep("job", j, err)
	for name, q := range map[string]jobs.ResultQuery{
		"results": {After: -1}, "with inputs": {After: -1, Input: true}, "from within a page": {After: 500}, "final": {After: 1022, Final: true}, "the last": {After: j.Shards.Total - 2},
	} {
		keep(name, w.allResults(job, q), nil)
	}
	for _, number := range []int64{0, 7, 1023, 1024, j.Shards.Total - 1} {
		shard, err := w.GetShard(ctx, w.project, job, number)
		keep("shard", shard, err)
		all["shard "+string(rune('a'+number%26))] = all["shard"]
	}
	m, err := w.Map(ctx, w.project, job, jobs.MapWindow{Mode: jobs.MapDuration})
	keep("map", m, err)
	stats, err := w.JobStats(ctx, w.project, job)
	keep("stats", stats, err)
	plan, err := w.PlanJob(ctx, w.project, functions.NewJob{Function: "numbers", Partition: rangeOf(2), Quorum: 2})
	keep("plan", plan, err)
	return all
}

// TestPackedAttemptsAreReadAsBefore packs the attempts of a job of three pages, but for those that something else is asked about.
func TestPackedAttemptsAreReadAsBefore(t *testing.T) {
	t.Parallel()
	w := newWorld(t, packsAtOnce)
	job, small := w.agreed(2100), w.agreed(archive.PackShards-1)
	w.exec(`update attempts set cpu_us = 1000 + shard, wall_us = 5000 + shard, peak_rss = 1 << 33, diagnostics = case when shard % 2 = 0 then '{"fuel": 3, "meter": 1}'::jsonb end
		where job_id = $1`, job.ID)
	w.exec("update attempts set matters = '' where job_id = $1 and shard = 7 and agent_id = (select min(agent_id::text)::uuid from attempts)", job.ID)
	w.exec("update attempts set void = true where job_id = $1 and shard = 1500", job.ID)
	lines := w.answers(auditsql.ReceiptShards, job.ID, 500, 1000, 1)
	require.Len(t, lines, 1000)
	before, attempts := w.seen(job.ID), w.rowsOf("attempts", job.ID)
	require.EqualValues(t, 2*2100, attempts)

	w.packEnded()
	require.EqualValues(t, 2*2, w.rowsOf("attempts", job.ID), "those of two shards stay")
	require.Equal(t, attempts-4, w.count("select sum(cardinality(posts)) from attempt_pages where job_id = $1", job.ID))
	require.EqualValues(t, 2*(archive.PackShards-1), w.rowsOf("attempts", small.ID), "of small jobs nothing is gained")
	require.Equal(t, before, w.seen(job.ID))
	w.check(job.ID)
	w.packEnded()
	require.EqualValues(t, 3, w.rowsOf("attempt_pages", job.ID))

	require.Equal(t, lines, w.answers(auditsql.ReceiptShards, job.ID, 500, 1000, 1))
	w.makeReceipt(job.ID)
	_, err := w.reaggregate(job.ID, aggregation.NewAggregation{Module: "count"}, functions.Idempotency{})
	require.NoError(t, err)
	w.settleAll()
	require.EqualValues(t, 2100, w.job(job.ID).Aggregate.Count)
}

// TestAPackedJobIsMeasured: a job is packed after a day though nobody has measured it, and is measured by what is packed then.
func TestAPackedJobIsMeasured(t *testing.T) {
	t.Parallel()
	w := newWorld(t, packsAtOnce)
	job := w.agreed(1100)
	w.exec("update jobs set finished_at = finished_at - interval '2 days' where id = $1", job.ID)
	w.exec("update attempts set cpu_us = 1000 + shard, wall_us = 5000 + shard where job_id = $1", job.ID)
	w.exec("update attempts set matters = '' where job_id = $1 and shard = 7", job.ID)
	measured := func() planner.Metrics {
		require.NoError(t, w.FollowUp(t.Context(), stepargs.FollowUpArgs{Project: w.project, Job: job.ID}))
		m, err := w.GetMetrics(t.Context(), w.project, job.ID)
		require.NoError(t, err)
		return m
	}
	w.exec("delete from job_metrics where job_id = $1", job.ID)
	before := measured()
	require.EqualValues(t, 2*1100, before.Verification.Executions)
	require.Positive(t, before.Times.WallP50)
	require.Positive(t, before.Sizes.Outputs)

	w.exec("delete from job_metrics where job_id = $1", job.ID)
	w.packEnded()
	require.EqualValues(t, 2, w.rowsOf("attempts", job.ID), "those of one shard stay")
	require.Equal(t, before, measured())
}

// TestLongDiagnosticsAreNotPacked: a page is one row, and an agent says up to 64 KiB about each shard.
func TestLongDiagnosticsAreNotPacked(t *testing.T) {
	t.Parallel()
	w := newWorld(t, packsAtOnce)
	job := w.agreed(100)
	const around = len(`{"said": ""}`)
	w.exec(`update attempts set diagnostics = jsonb_build_object('said', repeat('x', $2 - shard::int)) where job_id = $1 and shard < 2`,
		job.ID, archive.PackOutput-around+1)
	w.packEnded()
	require.EqualValues(t, 2, w.count("select count(*) from attempts where job_id = $1 and shard = 0", job.ID), "of one byte too many")
	require.EqualValues(t, 2, w.rowsOf("attempts", job.ID))
	w.check(job.ID)
}

// TestAJobThatCannotBePackedKeepsNoOther, though each run begins with it.
func TestAJobThatCannotBePackedKeepsNoOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t, packsAtOnce)
	first, second := w.agreed(70), w.agreed(80)
	w.exec("alter table attempt_pages add constraint broken check (job_id <> '" + first.ID.String() + "')")
	err := w.Pack(t.Context(), stepargs.PackArgs{})
	require.ErrorContains(t, err, first.ID.String())
	require.EqualValues(t, 2*70, w.rowsOf("attempts", first.ID))
	require.Zero(t, w.rowsOf("attempts", second.ID))
	w.exec("alter table attempt_pages drop constraint broken")
	w.packEnded()
	require.Zero(t, w.rowsOf("attempts", first.ID))
}

// TestStatsUnpackNoPageThatIsNotWanted: a page that is not looked at says of itself that it is of one that is.
func TestStatsUnpackNoPageThatIsNotWanted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, packsAtOnce)
	job := w.agreed(2100)
	looked := func() map[string]any {
		return w.answers(jobsql.JobStats, job.ID, 2, partition.PageSize, 10)[0]
	}
	before := looked()
	require.EqualValues(t, partition.PageSize+52, before["looked_at"])
	w.packEnded()
	require.Zero(t, w.rowsOf("attempts", job.ID))
	require.Equal(t, before, looked())
	w.exec("update attempt_pages set shards = array(select (s - 1024)::smallint from unnest(shards) with ordinality as u (s, n) order by n) where job_id = $1 and number = 1", job.ID)
	require.Equal(t, before, looked())
}

// answers are the rows that a query finds.
func (w *world) answers(query store.Query, args ...any) (all []map[string]any) {
	w.t.Helper()
	require.NoError(w.t, w.store.Project(w.t.Context(), w.project, func(tx *store.Tx) error {
		rows, err := tx.Query(w.t.Context(), query.SQL, args...)
		if err == nil {
			all, err = pgx.CollectRows(rows, pgx.RowToMap)
		}
		return err
	}))
	return all
}

// TestPackedAttemptsAreArchivedAndErased archives a job and deletes another.
func TestPackedAttemptsAreArchivedAndErased(t *testing.T) {
	t.Parallel()
	w := newWorld(t, packsAtOnce)
	job, gone := w.agreed(1030), w.agreed(70)
	page := func(n int64) []map[string]any {
		return w.answers(archivesql.ShardsToArchive, job.ID, n*partition.PageSize, (n+1)*partition.PageSize)
	}
	first, second := page(0), page(1)
	require.Len(t, second, 2*6)
	w.packEnded()
	require.Zero(t, w.rowsOf("attempts", job.ID))
	require.Equal(t, first, page(0))
	require.Equal(t, second, page(1))
	d, shards := w.archived(w.archive(job.ID))
	require.Len(t, shards, 1030)
	require.EqualValues(t, 2*1030, d.Shards.Attempts)
	require.Zero(t, w.rowsOf("attempt_pages", job.ID))
	require.EqualValues(t, 1, w.rowsOf("attempt_pages", gone.ID))
	_, err := w.DeleteJob(t.Context(), w.by, w.project, gone.ID)
	require.NoError(t, err)
	w.settleAll()
	w.requireErased(gone.ID)
}

// TestResultsOfAPackedJobAreSentAgain: they are known, as they were.
func TestResultsOfAPackedJobAreSentAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, packsAtOnce)
	job := w.submit(100, func(j *functions.NewJob) { j.Quorum = 1 })
	w.settleAll()
	a := w.agent(honest)
	lease := a.lease(100)
	results := a.results(lease.Shards)
	_, err := a.post(lease.ID, results...)
	require.NoError(t, err)
	w.settleAll()
	w.packEnded()
	require.Zero(t, w.rowsOf("attempts", job.ID))
	again, err := a.post(lease.ID, results...)
	require.NoError(t, err)
	require.Equal(t, 100, again.Duplicate)
	require.Zero(t, w.rowsOf("attempts", job.ID))
}

// TestPackingMayBeCutOffAnywhere cuts it off at each of its statements.
func TestPackingMayBeCutOffAnywhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t, packsAtOnce)
	job := w.agreed(1030)
	results := w.allResults(job.ID, jobs.ResultQuery{After: -1})
	cuts := w.cutOff(job.ID, func() error {
		return w.Pack(t.Context(), stepargs.PackArgs{})
	})
	require.Greater(t, cuts, 5)
	require.Zero(t, w.rowsOf("attempts", job.ID))
	require.Equal(t, results, w.allResults(job.ID, jobs.ResultQuery{After: -1}))
	w.check(job.ID)
}

// TestNothingIsPackedDuringAnUpgrade: servers of before do not read packed attempts. Once something may be packed, they do not start any more.
func TestNothingIsPackedDuringAnUpgrade(t *testing.T) {
	t.Parallel()
	w := newWorld(t, packsAtOnce)
	job := w.agreed(100)
	oldest := func() (n int) {
		require.NoError(t, w.store.Pool.QueryRow(t.Context(), "select oldest from ostraka.schema_needs where kind = 'project'").Scan(&n))
		return n
	}
	had := oldest()
	w.sql("update ostraka.packing set from_at = now() + interval '1 minute'")
	w.packEnded()
	require.EqualValues(t, 200, w.rowsOf("attempts", job.ID))
	require.Equal(t, had, oldest())
	w.sql("update ostraka.packing set from_at = now()")
	w.packEnded()
	require.Zero(t, w.rowsOf("attempts", job.ID))
	needs, err := migrations.NumberInProject("packed_attempts")
	require.NoError(t, err)
	require.Equal(t, needs, oldest())
}
