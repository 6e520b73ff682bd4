package engine_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/engine"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/tenant"
)

// budget gives the project so many seconds a day.
func (w *world) budget(seconds int64) {
	w.t.Helper()
	p, err := w.GetProject(w.t.Context(), w.project)
	require.NoError(w.t, err)
	p, err = w.UpdateProject(w.t.Context(), w.server, w.project, tenant.ProjectChange{RecheckSeconds: &seconds}, p.Revision)
	require.NoError(w.t, err)
	require.Equal(w.t, seconds, p.RecheckSeconds)
}

// spend has servers have executed shards of the project for so long, today and on the next day, should it begin meanwhile.
func (w *world) spend(seconds float64) {
	w.t.Helper()
	w.sql(`insert into ostraka.recheck_spent select $1, (now() at time zone 'utc')::date + n, $2 from generate_series(0, 1) n
		on conflict (project_id, day) do update set seconds = excluded.seconds`, w.project, seconds)
}

func (w *world) explained(job functions.Job, code string) (found functions.Reason) {
	w.t.Helper()
	e, err := w.Explain(w.t.Context(), w.project, job.ID)
	require.NoError(w.t, err)
	i := slices.IndexFunc(e.Reasons, func(r functions.Reason) bool { return r.Code == code })
	require.GreaterOrEqual(w.t, i, 0, "%+v", e)
	return e.Reasons[i]
}

// TestRechecksWaitWhenTheBudgetIsSpent and go on when there is more of it; no step goes round and round meanwhile.
func TestRechecksWaitWhenTheBudgetIsSpent(t *testing.T) {
	t.Parallel()
	c := &court{}
	w := newWorld(t, withCourt(c))
	w.opened()
	w.budget(10)
	w.spend(10)
	job := w.reported(3)
	w.settleAll()
	require.Zero(t, c.executed)
	require.NoError(t, w.Stranded(t.Context(), stepargs.StrandedArgs{}))
	require.Empty(t, w.rechecksOf(w.project))
	require.Equal(t, int64(3), w.count("select count(*) from rechecks where batch is null"))
	why := w.explained(job, "recheck_budget")
	require.Contains(t, why.Text, "3 rechecks wait: the project has spent the 10 s a day")
	require.Contains(t, why.Hint, "--recheck-seconds")

	w.budget(11) // one more is left
	require.NoError(t, w.Stranded(t.Context(), stepargs.StrandedArgs{}))
	w.settleAll()
	require.Equal(t, 3, c.executed)
	w.requireQuiet()
	require.Equal(t, functions.JobFinished, w.job(job.ID).State)
	var spent float64
	require.NoError(t, w.store.Pool.QueryRow(t.Context(), "select max(seconds) from ostraka.recheck_spent where project_id = $1", w.project).Scan(&spent))
	require.Greater(t, spent, 10.0)
}

// TestABatchEndsWithTheBudget after the shard that it is at.
func TestABatchEndsWithTheBudget(t *testing.T) {
	t.Parallel()
	c := &court{}
	w := newWorld(t, withCourt(c))
	w.opened()
	w.budget(1)
	w.reported(3)
	w.spend(1 - 1e-9) // a nanosecond is left
	w.settleAll()
	require.Equal(t, 1, c.executed)
	require.Equal(t, int64(2), w.count("select count(*) from rechecks where batch is null"))
	require.Empty(t, w.rechecksOf(w.project))
}

// TestAgentsAreAskedWhenTheBudgetIsSpent where the policy lets them.
func TestAgentsAreAskedWhenTheBudgetIsSpent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withCourt(&court{}), func(o *engine.Options) { o.RecheckSeconds = 5 }) // of projects that nothing was set for
	w.opened()
	w.spend(5)
	job := w.submit(40, bounded(1e-3))
	w.settleAll()
	first := w.stranger("first", honest)
	for first.do(40) > 0 {
		w.settleAll()
	}
	require.Positive(t, w.count("select count(*) from rechecks"))
	w.explained(job, "recheck_budget")
	w.exec("update rechecks set asked_at = asked_at - $1::interval", functions.RecheckerGone)
	require.NoError(t, w.Stranded(t.Context(), stepargs.StrandedArgs{}))
	require.Zero(t, w.count("select count(*) from rechecks"))
	others := []*agent{first, w.stranger("second", honest), w.stranger("third", honest), w.stranger("fourth", honest), w.stranger("fifth", honest)}
	w.settleAll()
	done := w.workOff(job, 40, others...)
	require.Equal(t, functions.JobFinished, done.State, "%+v", done)
}

func TestAPlanSaysWhatIsLeftOfTheBudget(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withCourt(&court{}))
	w.opened()
	want := functions.NewJob{Function: "numbers", Partition: rangeOf(50), Recheck: "all"}
	plan, err := w.PlanJob(t.Context(), w.project, want)
	require.NoError(t, err)
	require.Nil(t, plan.RecheckSeconds, "nothing is known of this version")
	require.Zero(t, plan.RecheckBudget.PerDay)
	w.submit(4, believed)
	w.settleAll()
	a := w.agent(honest)
	require.Equal(t, 4, a.do(4))
	w.exec("update attempts set wall_us = 2000000")
	w.budget(100)
	w.spend(30)
	plan, err = w.PlanJob(t.Context(), w.project, want)
	require.NoError(t, err)
	require.InDelta(t, 50, plan.Forecast.Rechecks, 1e-9)
	require.NotNil(t, plan.RecheckSeconds)
	require.InDelta(t, 100, *plan.RecheckSeconds, 1e-9)
	require.Equal(t, tenant.RecheckBudget{PerDay: 100, Spent: 30, Left: 70}, plan.RecheckBudget)
}

func TestABudgetHasItsLimits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, err := w.GetProject(t.Context(), w.project)
	require.NoError(t, err)
	_, err = w.UpdateProject(t.Context(), w.by, w.project, tenant.ProjectChange{RecheckSeconds: new(int64(5))}, p.Revision)
	requireCode(t, err, "operator_sets")
	for _, wrong := range []int64{-1, tenant.MaxRecheckSeconds + 1} {
		_, err = w.UpdateProject(t.Context(), w.server, w.project, tenant.ProjectChange{RecheckSeconds: &wrong}, p.Revision)
		requireCode(t, err, "bad_recheck_seconds")
	}
	w.budget(tenant.MaxRecheckSeconds)
	w.budget(0)
}
