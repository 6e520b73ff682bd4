package engine_test

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
)

func TestAStepWaitsForRoomInAQuota(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pushTwice()
	other := w.submit(1)
	w.setQuota(functions.QuotaOpenJobs, 1)
	r := w.startTwice(nil)
	w.settleAll()
	require.Equal(t, []string{"one waiting", "two waiting", "same waiting"}, states(w.workflowRun(r.ID)))
	require.Contains(t, w.workflowRun(r.ID).Steps[0].Error, "quota")
	for range 3 {
		_, err := w.PauseWorkflowRun(t.Context(), w.by, w.project, r.ID)
		require.NoError(t, err)
		_, err = w.ResumeWorkflowRun(t.Context(), w.by, w.project, r.ID)
		require.NoError(t, err)
		w.settleAll()
	}
	first := w.waiters()
	require.Len(t, first, 1, "one step waits, however often the run was resumed")
	require.NoError(t, w.step(first[0]))
	require.NoError(t, w.step(first[0]), "it was cut off after its transaction")
	second := w.waiters()
	require.Len(t, second, 2)
	w.done(first[0])
	_, err := w.CancelJob(t.Context(), w.by, w.project, other.ID)
	require.NoError(t, err)
	w.once(second[1])
	w.done(second[1])
	w.settleAll()
	require.Empty(t, w.waiters())
	require.Zero(t, w.count("select count(*) from workflow_runs where waits_until is not null"))
	r = w.workflowRun(r.ID)
	require.Equal(t, []string{"one running", "two waiting", "same waiting"}, states(r))
	require.Empty(t, r.Steps[0].Error)
}

// waiters are the steps of the queue that are to go on with runs later.
func (w *world) waiters() []waiting {
	w.t.Helper()
	rows, err := w.store.Pool.Query(w.t.Context(), "select id, kind, args from river.river_job where state = 'scheduled' and kind = $1 order by id", stepargs.AdvanceRunArgs{}.Kind())
	require.NoError(w.t, err)
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[waiting])
	require.NoError(w.t, err)
	return list
}

// TestAWaitingRunIsNeverForgotten cuts the steps off anywhere that wait for room in a quota: one of them is always left.
func TestAWaitingRunIsNeverForgotten(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pushTwice()
	other := w.submit(1)
	w.setQuota(functions.QuotaOpenJobs, 1)
	r := w.startTwice(nil)
	careful := func(s waiting) {
		for n := 1; ; n++ {
			require.Less(t, n, mostStatements)
			w.faults.arm(n)
			err := w.step(s)
			if !w.disarm() {
				require.NoError(t, err)
				break
			}
			require.True(t, err == nil || store.Unavailable(err), "a rollback that is cut off has happened: %v", err)
		}
		require.NoError(t, w.step(s), "and once more")
	}
	w.drain(careful)
	for range 2 {
		list := w.waiters()
		require.Len(t, list, 1)
		require.Equal(t, int64(1), w.count("select count(*) from workflow_runs where waits_until is not null"))
		careful(list[0])
		w.done(list[0])
	}
	// A step that an operator has deleted is replaced when somebody resumes the run an hour later.
	lost := w.waiters()
	require.Len(t, lost, 1)
	w.done(lost[0])
	w.inProject("update workflow_runs set waits_until = waits_until - interval '62 minutes'")
	require.NoError(t, w.Advance(t.Context(), stepargs.AdvanceRunArgs{Project: w.project, Run: r.ID}))
	list := w.waiters()
	require.Len(t, list, 1)
	_, err := w.CancelJob(t.Context(), w.by, w.project, other.ID)
	require.NoError(t, err)
	w.once(list[0])
	require.Equal(t, []string{"one running", "two waiting", "same waiting"}, states(w.workflowRun(r.ID)))
}
