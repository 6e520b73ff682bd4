package engine_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/aggregation"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/engine"
	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/functions/registry"
	"github.com/ostraka/ostraka/functions/result"
	"github.com/ostraka/ostraka/functions/review"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
)

// spoil gives the job's aggregator parameters that it does not take: a submit would have refused them.
func (w *world) spoil(job uuid.UUID) {
	w.t.Helper()
	w.exec(`update aggregations set aggregator = jsonb_set(aggregator, '{params}', '{"op":"sum","nonsense":true}') where job_id = $1`, job)
}

// exec changes the project's tables behind the back of the steps.
func (w *world) exec(sql string, args ...any) {
	w.t.Helper()
	require.NoError(w.t, w.store.Project(w.t.Context(), w.project, func(tx *store.Tx) error {
		_, err := tx.Exec(w.t.Context(), sql, args...)
		return err
	}))
}

func (w *world) reaggregate(job uuid.UUID, want aggregation.NewAggregation, idem functions.Idempotency) (functions.Job, error) {
	w.t.Helper()
	j, _, err := w.Reaggregate(w.t.Context(), w.by, w.project, job, want, idem)
	return j, err
}

func (w *world) aggregations(job uuid.UUID) []functions.Aggregation {
	w.t.Helper()
	list, err := w.ListAggregations(w.t.Context(), w.project, job, functions.ListPage{Limit: functions.MaxListLimit})
	require.NoError(w.t, err)
	return list
}

// TestAJobIsHeldUntilItsAggregatorWorks loses nothing to a module at fault: the shards go on, and run once.
func TestAJobIsHeldUntilItsAggregatorWorks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.submit(1025, func(j *functions.NewJob) { j.Quorum = 1 })
	w.settleAll()
	w.spoil(job.ID)
	a := w.agent(honest)
	require.Equal(t, 1024, a.do(1024))
	w.settleAll()
	now := w.job(job.ID)
	require.Equal(t, functions.JobRunning, now.State, "there are shards to run")
	require.Contains(t, now.AggregationError, "aggregator")
	require.Len(t, w.events(job.ID, base.EventAggregationFailed), 1)
	require.Equal(t, 1, a.do(1))
	w.settleAll()
	now = w.job(job.ID)
	require.Equal(t, functions.JobHeld, now.State)
	require.Len(t, w.events(job.ID, base.EventHeld), 1)
	waited, err := w.WaitJob(t.Context(), w.project, job.ID, fleet.MaxLeaseWait)
	require.NoError(t, err)
	require.Equal(t, functions.JobHeld, waited.State, "nobody waits for what only a person can mend")
	e, err := w.Explain(t.Context(), w.project, job.ID)
	require.NoError(t, err)
	require.Equal(t, "aggregation_failed", e.Reasons[0].Code)
	require.Contains(t, e.Reasons[0].Hint, "reaggregate")
	w.check(job.ID)

	_, err = w.reaggregate(job.ID, aggregation.NewAggregation{}, functions.Idempotency{})
	requireCode(t, err, "bad_params") // the same module with the same parameters
	mended, key := aggregation.NewAggregation{Module: "sum", Params: json.RawMessage(`{}`)}, functions.Idempotency{Key: "mended"}
	now, err = w.reaggregate(job.ID, mended, key)
	require.NoError(t, err)
	require.Equal(t, functions.JobRunning, now.State)
	require.Empty(t, now.AggregationError)
	_, replayed, err := w.Reaggregate(t.Context(), w.by, w.project, job.ID, mended, key)
	require.NoError(t, err, "whoever lost the answer asks again")
	require.True(t, replayed)
	w.settleAll()
	done := w.job(job.ID)
	require.Equal(t, functions.JobFinished, done.State)
	requireTruth(t, done, truth(rangeOf(1025)))
	require.Equal(t, int64(1025), done.Attempts, "no shard ran again")
	require.Equal(t, 2, done.Run)
	require.Len(t, w.events(job.ID, base.EventEnded), 1)
	w.check(job.ID)
}

// asksAgain is a module that exits with 75, whatever it is given.
const asksAgain = "0061736d0100000001150460000060047f7f7f7f017f60017f0060017f017f02670316776173695f736e617073686f745f70726576696577310766645f72" +
	"656164000116776173695f736e617073686f745f70726576696577310866645f7772697465000116776173695f736e617073686f745f70726576696577310970726f635f" +
	"657869740002030201000503010001071302066d656d6f72790200065f737461727400030a0901070041cb0010020b"

// TestAModuleThatAlwaysAsksForAnotherTryHoldsItsJob names the reason from the first try on, and gives up at the last one.
func TestAModuleThatAlwaysAsksForAnotherTryHoldsItsJob(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.submit(5, func(j *functions.NewJob) { j.Quorum = 1 })
	w.settleAll()
	code, err := hex.DecodeString(asksAgain)
	require.NoError(t, err)
	object, err := w.PutObject(t.Context(), w.project, "", bytes.NewReader(code))
	require.NoError(t, err)
	digest := func(digest string) {
		w.exec(`update aggregations set aggregator = jsonb_set(aggregator, '{digest}', to_jsonb($2::text)) where job_id = $1`, job.ID, digest)
	}
	works := w.job(job.ID).Aggregator.Digest
	digest(object.Digest)
	require.Equal(t, 5, w.agent(honest).do(10))
	var folds []waiting
	w.drain(func(s waiting) {
		if s.Kind == (stepargs.AggregateArgs{}).Kind() {
			folds = append(folds, s)
			return
		}
		w.once(s)
	})
	require.Len(t, folds, 1)
	for try := 1; try < aggregation.MaxFoldTries; try++ {
		require.ErrorContains(t, w.step(folds[0]), "tried again")
		require.Equal(t, functions.JobRunning, w.job(job.ID).State)
		e, err := w.Explain(t.Context(), w.project, job.ID)
		require.NoError(t, err)
		require.Equal(t, "folding_again", e.Reasons[0].Code)
		require.Contains(t, e.Reasons[0].Text, fmt.Sprintf("%d of %d times", try, aggregation.MaxFoldTries))
		require.Contains(t, e.Reasons[0].Text, "sum")
	}
	require.NoError(t, w.step(folds[0]), "the last try ends the aggregation")
	held := w.job(job.ID)
	require.Equal(t, functions.JobHeld, held.State)
	require.Contains(t, held.AggregationError, "5 times in a row")
	w.check(job.ID)
	_, err = w.reaggregate(job.ID, aggregation.NewAggregation{Module: "sum"}, functions.Idempotency{})
	require.NoError(t, err)
	require.Equal(t, works, w.job(job.ID).Aggregator.Digest)
	w.settleAll()
	require.Equal(t, functions.JobFinished, w.job(job.ID).State)
	requireTruth(t, w.job(job.ID), truth(rangeOf(5)))
}

// TestPartialsHaveABound holds a job whose aggregator prints more for a page than its share of what is stored.
func TestPartialsHaveABound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.submit(3, func(j *functions.NewJob) { j.Quorum = 1 })
	w.settleAll()
	w.exec(`update jobs set pages_total = $2 where id = $1`, job.ID, int64(aggregation.MaxLevelBytes)) // a share is one byte
	require.Equal(t, 3, w.agent(honest).do(3))
	w.settleAll()
	require.Contains(t, w.job(job.ID).AggregationError, "may have 1")
	failed := w.moduleRuns("sum", registry.ModuleRunFilter{Failed: new(true)})
	require.Len(t, failed, 1)
	require.Equal(t, "output_limit", failed[0].Class)
	require.Zero(t, w.count("select count(*) from partials"))
}

// TestAnEndedJobIsAggregatedAgain keeps the old answer.
func TestAnEndedJobIsAggregatedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.submit(1030, func(j *functions.NewJob) { j.Quorum = 1 })
	w.settleAll()
	a := w.agent(honest)
	_, err := w.reaggregate(job.ID, aggregation.NewAggregation{Module: "count"}, functions.Idempotency{})
	requireCode(t, err, "aggregating")
	for a.do(1024) > 0 {
		w.settleAll()
	}
	w.settleAll()
	require.Equal(t, functions.JobFinished, w.job(job.ID).State)

	key := functions.Idempotency{Key: "again"}
	now, err := w.reaggregate(job.ID, aggregation.NewAggregation{Module: "count"}, key)
	require.NoError(t, err)
	require.Equal(t, functions.JobFinished, now.State)
	requireTruth(t, now, truth(rangeOf(1030))) // until the new one stands
	_, err = w.reaggregate(job.ID, aggregation.NewAggregation{Module: "count"}, key)
	require.NoError(t, err)
	require.Len(t, w.aggregations(job.ID), 2, "the same request makes nothing twice")
	w.settleAll()
	done := w.job(job.ID)
	require.Equal(t, functions.JobFinished, done.State)
	require.Equal(t, "1030", string(done.Aggregate.Value))
	require.Equal(t, 2, done.Run)
	require.Len(t, w.events(job.ID, base.EventReaggregated), 1)
	require.Len(t, w.events(job.ID, base.EventEnded), 1)
	list := w.aggregations(job.ID)
	require.Equal(t, truth(rangeOf(1030)), string(list[0].Aggregate.Value))
	require.False(t, list[0].Current)
	require.True(t, list[1].Current)
	w.check(job.ID)

	_, err = w.reaggregate(job.ID, aggregation.NewAggregation{Module: "missing"}, functions.Idempotency{})
	requireCode(t, err, "not_found")
	_, err = w.reaggregate(uuid.New(), aggregation.NewAggregation{Module: "sum"}, functions.Idempotency{})
	requireCode(t, err, "not_found")
	require.Len(t, w.aggregations(job.ID), 2)

	w.exec("insert into aggregations (job_id, run, created_by) select $1, n, '' from generate_series(3, $2::int) n", job.ID, aggregation.MaxAggregations)
	_, err = w.reaggregate(job.ID, aggregation.NewAggregation{Module: "count"}, functions.Idempotency{})
	requireCode(t, err, "too_many_aggregations")
}

func TestACancelledJobIsNotAggregatedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.submit(3)
	w.settleAll()
	_, err := w.cancel(job.ID)
	require.NoError(t, err)
	_, err = w.reaggregate(job.ID, aggregation.NewAggregation{Module: "count"}, functions.Idempotency{})
	requireCode(t, err, "not_settled")
}

// accepted makes a job whose shards were all accepted, each with the output 1, without running any.
func (w *world) accepted(shards int64) functions.Job {
	w.t.Helper()
	job := w.submit(shards, func(j *functions.NewJob) { j.Quorum = 1; j.Aggregator = "sum" })
	w.settleAll()
	agent := uuid.New()
	digest := []byte("0123456789abcdef0123456789abcdef")
	w.exec(`insert into attempts (job_id, shard, agent_id, lease_id, submission_id, status, output, output_digest, outcome, output_bytes)
		select $1, n, $2, $2, $2, 'ok', '1', $3, $3, 1 from generate_series(0, $4::bigint - 1) n`, job.ID, agent, digest, shards)
	w.exec("update shards set state = 'accepted', wanted = 0, agent_id = $2 where job_id = $1", job.ID, agent)
	w.exec("update pages set accepted = open, open = 0 where job_id = $1", job.ID)
	return w.job(job.ID)
}

// treePages is the smallest number of pages whose tree has a level above them.
const treePages = 101

// foldAll folds the pages of a job of which nothing was folded yet, but for those that are left out.
func (w *world) foldAll(job functions.Job, except ...int64) {
	w.t.Helper()
	left := map[int64]bool{}
	for _, page := range except {
		left[page] = true
	}
	for page := range job.Shards.Total/1024 + 1 {
		if !left[page] {
			require.NoError(w.t, w.Aggregate(w.t.Context(), stepargs.AggregateArgs{Project: w.project, Job: job.ID, Page: page}))
		}
	}
}

// TestTheTreeIsMergedAsItGrows folds a job of 101 pages, the last one late.
func TestTheTreeIsMergedAsItGrows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.accepted((treePages-1)*1024 + 5)
	require.Nil(t, job.Aggregate)
	w.foldAll(job, 0, 100)
	w.settleAll()
	require.Zero(t, w.count("select count(*) from partials where level = 1"), "both nodes lack a page")
	preview := w.job(job.ID).Aggregate.Preview
	require.NotNil(t, preview)
	require.Equal(t, fmt.Sprint(preview.Count), string(preview.Value))
	require.Greater(t, preview.Share, 0.0)
	require.Less(t, preview.Share, 1.0)
	w.check(job.ID)

	require.NoError(t, w.Aggregate(t.Context(), stepargs.AggregateArgs{Project: w.project, Job: job.ID, Page: 0}))
	w.settleAll()
	require.Equal(t, int64(1), w.count("select count(*) from partials where level = 1"), "the first node is whole")
	w.exec("update aggregations set preview_asked_at = null")
	require.NoError(t, w.Preview(t.Context(), stepargs.PreviewArgs{Project: w.project, Job: job.ID, Run: 1}))
	preview = w.job(job.ID).Aggregate.Preview
	require.Equal(t, int64(102400), preview.Count)
	require.Equal(t, "102400", string(preview.Value))
	require.InDelta(t, 100.0/101, preview.Share, 1e-9)

	require.NoError(t, w.Aggregate(t.Context(), stepargs.AggregateArgs{Project: w.project, Job: job.ID, Page: 100}))
	w.settleAll()
	done := w.job(job.ID)
	require.Equal(t, functions.JobFinished, done.State)
	require.Equal(t, "102405", string(done.Aggregate.Value))
	require.Nil(t, done.Aggregate.Preview)
	w.check(job.ID)
}

// TestAReopenedShardTakesBackItsPath and nothing else, and the answer has it once.
func TestAReopenedShardTakesBackItsPath(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.accepted((treePages-1)*1024 + 5)
	w.foldAll(job, 100)
	w.settleAll()
	require.Equal(t, int64(1), w.count("select count(*) from partials where level = 1"))
	require.NotNil(t, w.job(job.ID).Aggregate.Preview)

	shard, err := w.resolve(job, 2048, review.Resolution{Decision: "retry", Reason: "its agent was caught"})
	require.NoError(t, err)
	require.Equal(t, functions.ShardOpen, shard.State)
	require.Equal(t, int64(99), w.count("select count(*) from partials where level = 0"), "page 2 is gone")
	require.Zero(t, w.count("select count(*) from partials where level = 1"), "and what it was in")
	require.Nil(t, w.job(job.ID).Aggregate, "the preview held it too")
	require.Len(t, w.events(job.ID, base.EventReopened), 1)
	require.NoError(t, w.Aggregate(t.Context(), stepargs.AggregateArgs{Project: w.project, Job: job.ID, Page: 2}), "a step that comes too early folds nothing")
	require.Equal(t, int64(99), w.count("select count(*) from partials where level = 0"))
	w.check(job.ID)

	require.NoError(t, w.Aggregate(t.Context(), stepargs.AggregateArgs{Project: w.project, Job: job.ID, Page: 100}))
	w.settleAll()
	require.Equal(t, functions.JobRunning, w.job(job.ID).State)
	w.exec("delete from attempts where job_id = $1 and shard = 2048", job.ID)
	require.Equal(t, 1, w.agent(says("1")).do(5))
	w.settleAll()
	done := w.job(job.ID)
	require.Equal(t, functions.JobFinished, done.State)
	require.Equal(t, "102405", string(done.Aggregate.Value))
	w.check(job.ID)
	_, err = w.resolve(job, 2048, review.Resolution{Decision: "retry", Reason: "too late"})
	require.ErrorIs(t, err, functions.ErrJobEnded)
}

// TestWhatWasReadBeforeAShardWasReopenedDoesNotCount opens a shard again between the reading of a fold or merge and its keeping.
func TestWhatWasReadBeforeAShardWasReopenedDoesNotCount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.accepted((treePages-1)*1024 + 5)
	// Each first opens a shard of page 1 again, then accepts it with another output: all counts are as before.
	reopen := func() {
		_, err := w.resolve(job, 1024, review.Resolution{Decision: "retry", Reason: "r"})
		require.NoError(t, err)
		w.exec("update attempts set output = '3' where job_id = $1 and shard = 1024", job.ID)
		w.exec("update shards s set state = 'accepted', wanted = 0, agent_id = (select agent_id from attempts where shard = 1024) where number = 1024")
		w.exec("update pages set accepted = accepted + 1, open = open - 1 where number = 1")
	}
	during := func(step func() error) {
		held, release := w.holdUp(store.LockJob)
		done := make(chan error, 1)
		go func() { done <- step() }()
		<-held
		reopen()
		release()
		require.NoError(t, <-done)
	}
	fold := func() error {
		return w.Aggregate(t.Context(), stepargs.AggregateArgs{Project: w.project, Job: job.ID, Page: 1})
	}
	w.foldAll(job, 1, 100)
	during(fold)
	require.Equal(t, int64(99), w.count("select count(*) from partials where level = 0"), "the fold of what was accepted before is dropped")
	require.NoError(t, fold())
	merge := stepargs.MergeArgs{Project: w.project, Job: job.ID, Run: 1, Level: 1}
	during(func() error { return w.Merge(t.Context(), merge) })
	require.Zero(t, w.count("select count(*) from partials where level = 1"), "so is the merge of a page that was taken back")
	require.NoError(t, fold())
	require.NoError(t, w.Merge(t.Context(), merge))
	require.Equal(t, int64(1), w.count("select count(*) from partials where level = 1"))
	w.check(job.ID)
	require.NoError(t, w.Aggregate(t.Context(), stepargs.AggregateArgs{Project: w.project, Job: job.ID, Page: 100}))
	during(func() error { return w.Merge(t.Context(), stepargs.MergeArgs{Project: w.project, Job: job.ID}) })
	require.Equal(t, functions.JobRunning, w.job(job.ID).State, "and the answer")
	require.NoError(t, fold())
	w.settleAll()
	done := w.job(job.ID)
	require.Equal(t, functions.JobFinished, done.State)
	require.Equal(t, "102407", string(done.Aggregate.Value), "the last output of the shard")
	w.check(job.ID)
}

// TestAPreviewOfWhatWasReopenedIsNotKept opens a shard again between the reading of a preview's partials and its keeping.
func TestAPreviewOfWhatWasReopenedIsNotKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.accepted(2 * 1024)
	require.NoError(t, w.Aggregate(t.Context(), stepargs.AggregateArgs{Project: w.project, Job: job.ID, Page: 0}))
	held, release := w.holdUp(store.LockJob)
	done := make(chan error, 1)
	go func() {
		done <- w.Preview(t.Context(), stepargs.PreviewArgs{Project: w.project, Job: job.ID, Run: 1})
	}()
	<-held
	_, err := w.resolve(job, 0, review.Resolution{Decision: "retry", Reason: "r"})
	release()
	require.NoError(t, err)
	require.NoError(t, <-done)
	require.Nil(t, w.job(job.ID).Aggregate)
}

// TestPreviewsKeepTheirPace makes one at once, and one later that has all that is folded meanwhile.
func TestPreviewsKeepTheirPace(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *engine.Options) { o.PreviewEvery = time.Hour })
	job := w.accepted(4 * 1024)
	fold := func(page int64) {
		require.NoError(t, w.Aggregate(t.Context(), stepargs.AggregateArgs{Project: w.project, Job: job.ID, Page: page}))
	}
	fold(0)
	w.settleAll()
	require.Equal(t, int64(1024), w.job(job.ID).Aggregate.Preview.Count)
	fold(1)
	fold(2)
	w.settleAll()
	require.Equal(t, int64(1024), w.job(job.ID).Aggregate.Preview.Count, "the next one is not due yet")
	var later []waiting
	rows, err := w.store.Pool.Query(t.Context(), "select id, kind, args from river.river_job where state = 'scheduled' and scheduled_at > now()")
	require.NoError(t, err)
	later, err = pgx.CollectRows(rows, pgx.RowToStructByName[waiting])
	require.NoError(t, err)
	require.Len(t, later, 1, "one for both pages")
	w.once(later[0])
	require.Equal(t, int64(3*1024), w.job(job.ID).Aggregate.Preview.Count)
	require.InDelta(t, 0.75, w.job(job.ID).Aggregate.Preview.Share, 1e-9)
}

// TestALargeResultWithManyArtifactsIsPassedByReference where the two are too long for one record.
func TestALargeResultWithManyArtifactsIsPassedByReference(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	output := []byte(`"` + strings.Repeat("é", (1<<20-400)/2) + `"`)
	size := int64(len(output))
	digest, _, err := w.blobs.Put(t.Context(), w.project, bytes.NewReader(output), size)
	require.NoError(t, err)
	_, _, err = w.PushModule(t.Context(), w.by, w.project, "mine", "aggregator", builtinBytes(t, 1))
	require.NoError(t, err)
	folded := func(module string, files ...functions.File) functions.Job {
		job := w.accepted(1)
		w.exec("update attempts set output = null, output_digest = decode($2, 'hex'), output_bytes = $3, diagnostics = jsonb_build_object('files', $4::jsonb) where job_id = $1",
			job.ID, digest, size, files)
		w.exec("update aggregations set state = 'failed' where job_id = $1", job.ID)
		_, err := w.reaggregate(job.ID, aggregation.NewAggregation{Module: module, Params: json.RawMessage(`{"op":"count"}`)}, functions.Idempotency{})
		require.NoError(t, err)
		w.settleAll()
		return w.job(job.ID)
	}
	plot := functions.File{Path: strings.Repeat("\"", result.MaxArtifactPath), Size: 1, Digest: digest}
	require.Equal(t, functions.JobFinished, folded("count").State, "alone it is a record")
	require.Contains(t, folded("count", plot).AggregationError, "passed a reference", "with an artifact it is not, and the built-in module says so")
	require.Equal(t, functions.JobFinished, folded("mine", plot).State, "a module of one's own gets the reference")
}
