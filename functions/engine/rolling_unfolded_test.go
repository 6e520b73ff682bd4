package engine_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/archive"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/workflow"
)

// unfolded is a campaign whose first job has finished, and whose run has not gone on since.
func (w *world) unfolded() (run workflow.RunDetail, job uuid.UUID) {
	w.t.Helper()
	a := w.agent(honest)
	run = w.startCampaign("95")
	w.settleAll()
	job = w.partJob(run.ID, 0)
	for i := 0; w.job(job).State != functions.JobFinished; i++ {
		require.Less(w.t, i, 20)
		a.do(2)
		w.settleWithout(stepargs.AdvanceRunArgs{}.Kind())
	}
	return run, job
}

// settleWithout runs all that waits but steps of a kind.
func (w *world) settleWithout(kind string) {
	w.t.Helper()
	for again := true; again; {
		again = false
		for _, s := range w.steps() {
			if s.Kind != kind {
				again = true
				w.once(s)
				w.done(s)
			}
		}
	}
}

// TestAnAnswerThatIsNotFoldedYetStays: its job becomes no archive and is not forgotten before its run has folded it, cancelled as it is.
func TestAnAnswerThatIsNotFoldedYetStays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	run, job := w.unfolded()
	_, err := w.CancelWorkflowRun(ctx, w.by, w.project, run.ID)
	require.NoError(t, err)
	w.inProject("update jobs set finished_at = finished_at - interval '40 days' where id = $1", job)
	_, err = w.ArchiveJob(ctx, w.by, w.project, job)
	require.ErrorIs(t, err, archive.ErrWaits)
	require.ErrorContains(t, err, "has not folded its answer yet")
	require.NoError(t, w.archiveJobs(1))
	w.sql("update ostraka.projects set keep_jobs_days = 30")
	require.NoError(t, w.Retain(ctx, stepargs.RetentionArgs{}))
	require.Nil(t, w.job(job).Archive)
	require.Equal(t, functions.JobFinished, w.job(job).State)
	w.settleAll()
	p := w.rolling(run.ID)
	require.Equal(t, int64(1), p.Folded)
	require.JSONEq(t, truthOf(20), string(p.Answer))
	w.retain()
	require.Zero(t, w.count("select count(*) from jobs where id = $1", job), "what is folded may go")
}

// TestAnAnswerThatIsGoneIsAHole takes away from the first job what its run is about to fold.
func TestAnAnswerThatIsGoneIsAHole(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		take func(w *world, job uuid.UUID)
		says string
	}{
		"archived": {func(w *world, job uuid.UUID) {
			w.inProject("insert into archives (job_id, state, asked_by, results, document, written_at) values ($1, 'removing', 'x', repeat('0', 64), repeat('0', 64), now())", job)
		}, "archived before its answer was folded"},
		"removed in part": {func(w *world, job uuid.UUID) {
			w.inProject("update partials set count = count - 1 where job_id = $1", job)
		}, "1 results of job"},
		"deleted": {func(w *world, job uuid.UUID) {
			_, err := w.DeleteJob(w.t.Context(), w.by, w.project, job)
			require.NoError(w.t, err)
		}, "deleted"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			run, job := w.unfolded()
			c.take(w, job)
			w.settleAll()
			holes := w.holes(run.ID)
			require.Len(t, holes, 1)
			require.Equal(t, int64(0), beyond(holes[0].From))
			require.Contains(t, holes[0].Error, c.says)
			require.Zero(t, w.rolling(run.ID).Results)
		})
	}
}
