package engine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/blob"
	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/aggregation"
	"github.com/ostraka/ostraka/functions/archive"
	archivesql "github.com/ostraka/ostraka/functions/archive/sql"
	"github.com/ostraka/ostraka/functions/engine"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/tenant"
	file "github.com/ostraka/ostraka/runtime/archive"
	"github.com/ostraka/ostraka/runtime/canonical"
)

// tablesOfShards are those that have nothing of a job that is archived.
var tablesOfShards = []string{"shards", "attempts", "pages", "audits", "rechecks", "answer_classes", "comparison_failures", "leases", "submissions", "windows", "partials", "page_scores"}

// archive makes an archive of a job, and checks that its rows are gone.
func (w *world) archive(job uuid.UUID) functions.JobArchive {
	w.t.Helper()
	asked, err := w.ArchiveJob(w.t.Context(), w.by, w.project, job)
	require.NoError(w.t, err)
	require.Equal(w.t, functions.ArchiveWriting, asked.State)
	w.settleAll()
	return w.requireArchived(job)
}

func (w *world) requireArchived(job uuid.UUID) functions.JobArchive {
	w.t.Helper()
	a, err := w.GetArchive(w.t.Context(), w.project, job)
	require.NoError(w.t, err)
	require.Equal(w.t, functions.ArchiveDone, a.State, a.Error)
	for _, table := range tablesOfShards {
		require.Zero(w.t, w.rowsOf(table, job), table)
	}
	return a
}

// allResults are the results of a job with their inputs.
func (w *world) allResults(job uuid.UUID, q jobs.ResultQuery) (all []jobs.ResultLine) {
	w.t.Helper()
	for line, err := range w.Results(w.t.Context(), w.project, job, q) {
		require.NoError(w.t, err)
		all = append(all, line)
	}
	return all
}

// object reads an object of the project, verified.
func (w *world) object(digest string) []byte {
	w.t.Helper()
	in, _, err := w.OpenObject(w.t.Context(), w.project, digest)
	require.NoError(w.t, err)
	defer in.Close()
	text, err := io.ReadAll(in)
	require.NoError(w.t, err)
	return text
}

// archived reads the files of an archive.
func (w *world) archived(a functions.JobArchive) (file.Document, []file.Shard) {
	w.t.Helper()
	d, err := file.Parse(w.object(a.Document.Digest))
	require.NoError(w.t, err)
	require.Equal(w.t, a.Results.Digest, d.Results.Digest)
	rows := w.object(a.Results.Digest)
	require.Equal(w.t, a.Results.Bytes, int64(len(rows)))
	r, err := file.Open(bytes.NewReader(rows), int64(len(rows)))
	require.NoError(w.t, err)
	var shards []file.Shard
	for s, err := range r.Shards(-1) {
		require.NoError(w.t, err)
		shards = append(shards, s)
	}
	return d, shards
}

// TestAnArchivedJobIsReadAsBefore archives a job of three pages with a receipt.
func TestAnArchivedJobIsReadAsBefore(t *testing.T) {
	t.Parallel()
	overStores(t, func(t *testing.T, w *world, _ *blob.Store) {
		t.Helper()
		ctx := t.Context()
		job := w.agreed(2100)
		beside := w.agreed(5)
		w.makeReceipt(job.ID)
		_, lines := w.receipt(job.ID)
		before, results := w.job(job.ID), w.allResults(job.ID, jobs.ResultQuery{After: -1, Input: true})
		require.Len(t, results, 2100)
		require.NoError(t, w.Retain(ctx, stepargs.RetentionArgs{}))
		used := *w.quota(functions.QuotaResults).Used

		a := w.archive(job.ID)
		require.Equal(t, w.by.Actor(), a.AskedBy)
		require.Equal(t, int64(2100), a.Shards)
		require.Equal(t, results, w.allResults(job.ID, jobs.ResultQuery{After: -1, Input: true}))
		require.Len(t, w.allResults(job.ID, jobs.ResultQuery{After: 2097}), 2)
		require.Len(t, w.allResults(job.ID, jobs.ResultQuery{After: 1023, Final: true}), 2100-1024)
		after := w.job(job.ID)
		require.True(t, after.Archive.Holds())
		require.Equal(t, a, *after.Archive)
		after.Archive = nil
		require.Equal(t, before, after, "counts, owners and what speaks for the results")
		receipt, archivedLines := w.receipt(job.ID)
		require.Equal(t, lines, archivedLines)
		require.Equal(t, "finished", receipt.Statement.State)
		_, err := w.MakeReceipt(ctx, w.by, w.project, job.ID)
		require.NoError(t, err, "the receipt stays as it was made")

		d, shards := w.archived(a)
		require.Len(t, shards, 2100)
		require.Equal(t, job.ID.String(), d.Job)
		require.Equal(t, w.project.String(), d.Project)
		require.NotEmpty(t, d.Receipt)
		require.Equal(t, int64(4200), d.Shards.Attempts)
		for i, s := range shards {
			require.Equal(t, "accepted", s.State)
			require.Equal(t, canonical.Digest([]byte(*s.Output)), *s.OutputDigest)
			require.Equal(t, string(results[i].Output), *s.Output)
			require.Len(t, s.Attempts, 2)
			for _, attempt := range s.Attempts {
				require.True(t, attempt.Agrees)
				require.Len(t, attempt.Signature, 64)
			}
		}

		require.Equal(t, used-2100, *w.quota(functions.QuotaResults).Used)
		require.NoError(t, w.Retain(ctx, stepargs.RetentionArgs{}))
		require.Equal(t, used-2100, *w.quota(functions.QuotaResults).Used, "a count says the same")
		w.ageObjects()
		w.collect()
		require.Len(t, w.allResults(job.ID, jobs.ResultQuery{After: -1}), 2100, "what an archive has is not collected")
		require.Len(t, w.allResults(beside.ID, jobs.ResultQuery{After: -1}), 5)
		require.Equal(t, int64(1), w.count("select count(*) from audit where action = 'job.archive' and subject = $1", job.ID.String()))
		require.Equal(t, int64(1), w.count("select count(*) from audit where action = 'job.archived' and detail ->> 'results' = $1", a.Results.Digest))

		again, err := w.ArchiveJob(ctx, w.by, w.project, job.ID)
		require.NoError(t, err, "asking twice is harmless")
		require.Equal(t, a, again)
		list, err := w.ListArchives(ctx, w.project, functions.ListPage{Limit: 10})
		require.NoError(t, err)
		require.Equal(t, []functions.JobArchive{a}, list)

		w.erase(job.ID)
		require.Equal(t, used-2100, *w.quota(functions.QuotaResults).Used, "they were taken off already")
		w.ageObjects()
		w.collect()
		for _, digest := range []string{a.Results.Digest, a.Document.Digest} {
			_, err := w.blobs.Stat(ctx, w.project, digest)
			require.ErrorIs(t, err, blob.ErrNotFound)
		}
	})
}

// TestWhatNeedsShardsIsRefusedOfAnArchivedJob: with what to do instead.
func TestWhatNeedsShardsIsRefusedOfAnArchivedJob(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	job := w.agreed(3)
	w.archive(job.ID)
	for what, do := range map[string]func() error{
		"shard": func() error { _, err := w.GetShard(ctx, w.project, job.ID, 0); return err },
		"shards": func() error {
			_, err := w.ListShards(ctx, w.project, job.ID, "", functions.ListPage{Limit: 1})
			return err
		},
		"artifacts": func() error {
			_, err := w.ListArtifacts(ctx, w.project, job.ID, functions.ListPage{Limit: 1})
			return err
		},
		"map": func() error {
			_, err := w.Map(ctx, w.project, job.ID, jobs.MapWindow{Mode: jobs.MapPages})
			return err
		},
		"stats":   func() error { _, err := w.JobStats(ctx, w.project, job.ID); return err },
		"receipt": func() error { _, err := w.MakeReceipt(ctx, w.by, w.project, job.ID); return err },
		"reaggregate": func() error {
			_, _, err := w.Reaggregate(ctx, w.by, w.project, job.ID, aggregation.NewAggregation{Module: "count"}, functions.Idempotency{})
			return err
		},
		"rerun": func() error {
			_, _, err := w.SubmitJob(ctx, w.by, w.project, functions.NewJob{Function: "numbers", Partition: rangeOf(1), RerunOf: &job.ID}, functions.Idempotency{})
			return err
		},
	} {
		err := do()
		require.ErrorIs(t, err, functions.ErrJobArchived, what)
		var ours *functions.Error
		require.ErrorAs(t, err, &ours)
		require.Contains(t, ours.Hint, "ostraka job results JOB", what)
	}
	e, err := w.Explain(ctx, w.project, job.ID)
	require.NoError(t, err)
	require.Equal(t, "archived", e.Reasons[0].Code)
	require.Contains(t, e.Reasons[0].Hint, "ostraka archive download "+job.ID.String())
}

// TestAJobWithOpenFlagsIsNotArchived until somebody has closed them; nor is one that has not ended.
func TestAJobWithOpenFlagsIsNotArchived(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	job := w.agreed(3)
	w.inProject("insert into flags (id, job_id, kind, scope, item) values (gen_random_uuid(), $1::uuid, 'mismatch', 'job:' || $1::uuid, 'x')", job.ID)
	_, err := w.ArchiveJob(ctx, w.by, w.project, job.ID)
	require.ErrorIs(t, err, archive.ErrWaits)
	require.ErrorContains(t, err, "1 flag is open")
	require.NoError(t, w.archiveJobs(1))
	w.inProject("update jobs set finished_at = now() - interval '2 days'")
	w.retain()
	require.Nil(t, w.job(job.ID).Archive)
	e, err := w.Explain(ctx, w.project, job.ID)
	require.NoError(t, err)
	require.Contains(t, fmt.Sprint(e.Reasons), "is no archive yet: job "+job.ID.String()+" stays as it is: 1 flag is open")
	w.inProject("update flags set resolved_at = now()")
	w.retain()
	w.requireArchived(job.ID)

	open := w.submit(3)
	w.settleAll()
	_, err = w.ArchiveJob(ctx, w.by, w.project, open.ID)
	require.ErrorIs(t, err, archive.ErrWaits)
	require.ErrorContains(t, err, "is running")
	_, err = w.GetArchive(ctx, w.project, open.ID)
	require.ErrorIs(t, err, archive.ErrNoArchive)
	_, err = w.ArchiveJob(ctx, w.by, w.project, uuid.New())
	requireCode(t, err, "not_found")
	_, err = w.cancel(open.ID)
	require.NoError(t, err)
	w.settleAll()
	w.archive(open.ID)
	require.Equal(t, int64(3), w.job(open.ID).Shards.Cancelled)
}

// TestAJobOfARunThatGoesOnIsNotArchived: checks and folds of the run read its shards.
func TestAJobOfARunThatGoesOnIsNotArchived(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pushTwice()
	a, r := w.agent(honest), w.startTwice(nil)
	w.settleAll()
	a.do(5)
	w.settleAll()
	first := *w.workflowRun(r.ID).Steps[0].JobID
	require.Equal(t, functions.JobFinished, w.job(first).State)
	_, err := w.PauseWorkflowRun(t.Context(), w.by, w.project, r.ID)
	require.NoError(t, err)
	_, err = w.ArchiveJob(t.Context(), w.by, w.project, first)
	require.ErrorIs(t, err, archive.ErrWaits)
	require.ErrorContains(t, err, "a step of a workflow's run that goes on")
	require.NoError(t, w.archiveJobs(1))
	w.inProject("update jobs set finished_at = now() - interval '2 days' where id = $1", first)
	w.retain()
	require.Nil(t, w.job(first).Archive)
	e, err := w.Explain(t.Context(), w.project, first)
	require.NoError(t, err)
	require.Contains(t, fmt.Sprint(e.Reasons), "a step of a workflow's run that goes on")
	_, err = w.CancelWorkflowRun(t.Context(), w.by, w.project, r.ID)
	require.NoError(t, err)
	w.settleAll()
	w.retain()
	w.requireArchived(first)
}

// TestAnArchiveThatIsAnotherFileIsNotRead puts the whole archive of another job where that of a job belongs.
func TestAnArchiveThatIsAnotherFileIsNotRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job, other := w.agreed(3), w.agreed(5)
	a, b := w.archive(job.ID), w.archive(other.ID)
	path := w.objectPath(a.Results.Digest)
	require.NoError(t, os.Chmod(path, 0o600))
	require.NoError(t, os.WriteFile(path, w.object(b.Results.Digest), 0o600))
	refused := func(says string) {
		for _, err := range w.Results(t.Context(), w.project, job.ID, jobs.ResultQuery{After: -1}) {
			require.ErrorIs(t, err, functions.ErrObjectDamaged)
			require.ErrorIs(t, err, file.ErrDamaged)
			var ours *functions.Error
			require.ErrorAs(t, err, &ours)
			require.ErrorContains(t, ours.Err, says, "for operators")
			return
		}
		t.Fatal("nothing was said")
	}
	refused(fmt.Sprintf("and was written with %d", a.Results.Bytes))
	w.inProject("update archives set results_bytes = $2 where job_id = $1", job.ID, b.Results.Bytes)
	refused("it has 5 shards, and was written with 3")
}

// TestOutputsOfAnArchivedJobAreInputs of another one.
func TestOutputsOfAnArchivedJobAreInputs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.agreed(3)
	w.archive(job.ID)
	next := w.submit(3, func(j *functions.NewJob) { j.Partition, j.FromJob = partition.Spec{Kind: partition.KindItems}, &job.ID })
	require.Equal(t, int64(3), next.Shards.Total)
}

// archiveJobs sets after how many days jobs of the project become archives.
func (w *world) archiveJobs(days int) error {
	w.t.Helper()
	p, err := w.GetProject(w.t.Context(), w.project)
	require.NoError(w.t, err)
	_, err = w.UpdateProject(w.t.Context(), w.by, w.project, tenant.ProjectChange{ArchiveJobsDays: &days}, p.Revision)
	return err
}

// TestOldJobsBecomeArchives and later nothing; where a project says nothing the server does.
func TestOldJobsBecomeArchives(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *engine.Options) { o.ArchiveDays = 5 })
	const day = 24 * time.Hour
	old, young := w.agreed(3), w.agreed(3)
	ended := func(job functions.Job, ago time.Duration) {
		w.inProject("update jobs set finished_at = $2 where id = $1", job.ID, time.Now().Add(-ago))
	}
	ended(old, 5*day+time.Minute)
	ended(young, 5*day-time.Minute)
	require.NoError(t, w.archiveJobs(0))
	w.retain()
	require.Nil(t, w.job(old.ID).Archive, "the project wants none")
	require.NoError(t, w.archiveJobs(-1))
	w.retain()
	require.Equal(t, "server:retention", w.requireArchived(old.ID).AskedBy)
	require.Nil(t, w.job(young.ID).Archive)
	require.NoError(t, w.archiveJobs(4))
	w.retain()
	w.requireArchived(young.ID)
	for _, days := range []int{-2, tenant.MaxKeepJobsDays + 1} {
		requireCode(t, w.archiveJobs(days), "bad_archive_jobs")
	}
	require.NoError(t, w.archiveJobs(tenant.MaxKeepJobsDays))
	require.NoError(t, w.keepJobs(5))
	w.retain()
	_, err := w.GetJob(t.Context(), w.project, old.ID)
	require.ErrorIs(t, err, functions.ErrJobDeleted)
	require.Zero(t, w.rowsOf("archives", old.ID))
	w.requireArchived(young.ID)
}

// TestAnArchiveThatIsTooLargeLeavesTheJob: a file of just as many bytes as it may have is written, and one of one more is not. A job that changes
// meanwhile has its file written for nothing, and again.
func TestAnArchiveThatIsTooLargeLeavesTheJob(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.agreed(30)
	args := stepargs.ArchiveArgs{Project: w.project, Job: job.ID}
	ask := func() {
		_, err := w.ArchiveJob(t.Context(), w.by, w.project, job.ID)
		require.NoError(t, err)
	}
	ask()
	held, release := w.holdUp(archivesql.ArchivedMetrics) // when the file is written
	ended := make(chan error, 1)
	go func() { ended <- w.Archive(context.Background(), args) }()
	<-held
	w.inProject("insert into flags (id, job_id, kind, scope, item) values (gen_random_uuid(), $1::uuid, 'mismatch', 'job:' || $1::uuid, 'x')", job.ID)
	release()
	var later *functions.Snooze
	require.ErrorAs(t, <-ended, &later)
	require.ErrorContains(t, later, "1 flag is open")
	require.Len(t, w.allResults(job.ID, jobs.ResultQuery{After: -1}), 30)
	w.inProject("delete from flags")
	size := w.sizeOfParquet()

	small := w.options
	small.ArchiveBytes = size - 1
	require.NoError(t, engine.New(small).Archive(t.Context(), args))
	a, err := w.GetArchive(t.Context(), w.project, job.ID)
	require.NoError(t, err)
	require.Equal(t, functions.ArchiveFailed, a.State)
	require.Contains(t, a.Error, fmt.Sprintf("more than %d bytes", size-1))
	require.Len(t, w.allResults(job.ID, jobs.ResultQuery{After: -1}), 30, "the job is as it was")
	ask()
	enough := w.options
	enough.ArchiveBytes = size
	require.NoError(t, engine.New(enough).Archive(t.Context(), args))
	require.Equal(t, size, w.requireArchived(job.ID).Results.Bytes)
}

// sizeOfParquet is how long the only Parquet file is that was stored.
func (w *world) sizeOfParquet() (size int64) {
	w.t.Helper()
	rows, err := w.store.Pool.Query(w.t.Context(), "select digest from ostraka.objects where project_id = $1", w.project)
	require.NoError(w.t, err)
	digests, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(w.t, err)
	for _, digest := range digests {
		if in, n, err := w.blobs.Open(w.t.Context(), w.project, digest); err == nil {
			magic := make([]byte, 4)
			_, err = io.ReadFull(in, magic)
			require.NoError(w.t, errors.Join(err, in.Close()))
			if string(magic) == "PAR1" {
				require.Zero(w.t, size)
				size = n
			}
		}
	}
	return size
}

// TestArchivingMayBeCutOffAnywhere cuts each call and each step off at each of its statements.
func TestArchivingMayBeCutOffAnywhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.agreed(1030)
	results := w.allResults(job.ID, jobs.ResultQuery{After: -1})
	w.cutOff(uuid.Nil, func() error {
		_, err := w.ArchiveJob(t.Context(), w.by, w.project, job.ID)
		return err
	})
	cuts := 0
	w.drain(func(s waiting) {
		cuts += w.cutOff(uuid.Nil, func() error {
			err := w.step(s)
			if err != nil { // nothing is cut off any more
				require.Equal(t, results, w.allResults(job.ID, jobs.ResultQuery{After: -1}))
			}
			return err
		})
		require.NoError(t, w.step(s), "and once more")
	})
	w.requireArchived(job.ID)
	require.Equal(t, results, w.allResults(job.ID, jobs.ResultQuery{After: -1}))
	require.Greater(t, cuts, 20)
	require.Equal(t, int64(1), w.count("select count(*) from audit where action = 'job.archive'"))
	require.Equal(t, int64(1), w.count("select count(*) from audit where action = 'job.archived'"))
	w.requireQuiet()
}
