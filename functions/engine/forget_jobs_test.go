package engine_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/tenant"
)

// keepJobs sets for how many days the project keeps ended jobs.
func (w *world) keepJobs(days int) error {
	w.t.Helper()
	p, err := w.GetProject(w.t.Context(), w.project)
	require.NoError(w.t, err)
	_, err = w.UpdateProject(w.t.Context(), w.by, w.project, tenant.ProjectChange{KeepJobsDays: &days}, p.Revision)
	return err
}

// retain is an hour's retention, with what follows from it.
func (w *world) retain() {
	w.t.Helper()
	require.NoError(w.t, w.Retain(w.t.Context(), stepargs.RetentionArgs{}))
	w.settleAll()
}

// TestOldJobsAreForgotten deletes what ended longer ago than the project keeps it, and nothing else.
func TestOldJobsAreForgotten(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.agent(honest)
	done := func() functions.Job {
		job := w.submit(2, func(j *functions.NewJob) { j.Quorum = 1 })
		w.settleAll()
		a.report(a.lease(2))
		w.settleAll()
		require.Equal(t, functions.JobFinished, w.job(job.ID).State)
		return job
	}
	finished := func(job uuid.UUID, ago time.Duration) {
		w.inProject("update jobs set finished_at = $2 where id = $1", job, time.Now().Add(-ago))
	}
	const day = 24 * time.Hour
	old, young, cancelled, open := done(), done(), w.submit(1), w.submit(1)
	_, err := w.cancel(cancelled.ID)
	require.NoError(t, err)
	w.settleAll()
	finished(old.ID, 3*day+time.Minute)
	finished(young.ID, 3*day-time.Minute)
	finished(cancelled.ID, 4*day)
	w.inProject("update jobs set created_at = $2 where id = $1", open.ID, time.Now().Add(-9*day))

	w.retain()
	require.Equal(t, functions.JobFinished, w.job(old.ID).State, "nothing was said: everything is kept")

	require.NoError(t, w.keepJobs(3))
	w.retain()
	for _, gone := range []uuid.UUID{old.ID, cancelled.ID} {
		for _, table := range w.tablesOfJobs() {
			require.Zero(t, w.rowsOf(table, gone), table)
		}
		_, err := w.GetJob(t.Context(), w.project, gone)
		require.ErrorIs(t, err, functions.ErrJobDeleted)
		require.ErrorContains(t, err, "server:retention")
	}
	require.Equal(t, functions.JobFinished, w.job(young.ID).State)
	require.False(t, w.job(open.ID).State.Ended(), "a job that has not ended is never too old")

	for days, code := range map[int]string{-1: "bad_keep_jobs", tenant.MaxKeepJobsDays + 1: "bad_keep_jobs"} {
		requireCode(t, w.keepJobs(days), code)
	}
	require.NoError(t, w.keepJobs(tenant.MaxKeepJobsDays))
	w.retain()
	require.NoError(t, w.keepJobs(0))
	w.retain()
	require.Equal(t, functions.JobFinished, w.job(young.ID).State)
}

// TestAJobThatCannotBeForgottenHoldsUpNoOther has the database refuse one of those that are too old.
func TestAJobThatCannotBeForgottenHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	stuck, second, third := w.submit(1), w.submit(1), w.submit(1)
	for i, job := range []functions.Job{stuck, second, third} {
		_, err := w.cancel(job.ID)
		require.NoError(t, err)
		w.inProject("update jobs set finished_at = $2 where id = $1", job.ID, time.Now().Add(-time.Duration(9-i)*24*time.Hour))
	}
	w.settleAll()
	w.sql("alter table " + w.schema() + ".jobs add constraint stuck check (state <> 'deleting' or id <> '" + stuck.ID.String() + "')")
	require.NoError(t, w.keepJobs(3))
	err := w.Retain(t.Context(), stepargs.RetentionArgs{})
	require.ErrorContains(t, err, stuck.ID.String())
	require.ErrorContains(t, err, w.project.String())
	w.settleAll()
	require.Equal(t, functions.JobCancelled, w.job(stuck.ID).State)
	for _, gone := range []functions.Job{second, third} {
		_, err := w.GetJob(t.Context(), w.project, gone.ID)
		require.ErrorIs(t, err, functions.ErrJobDeleted)
	}
}
