package engine_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/dispatch"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/tenant"
	"github.com/ostraka/ostraka/functions/turns"
)

// believed is the policy of jobs whose shards are lent once.
func believed(j *functions.NewJob) { j.Quorum, j.None = 0, true }

// leased is the job of the agent's next lease, of so many shards.
func (a *agent) leased(most int) uuid.UUID {
	a.w.t.Helper()
	lease := a.lease(most)
	require.NotNil(a.w.t, lease)
	return lease.Job
}

// taken counts whose leases the agent is given, which it does not end.
func (a *agent) taken(leases int) map[uuid.UUID]int {
	a.w.t.Helper()
	of := map[uuid.UUID]int{}
	for range leases {
		of[a.leased(1)]++
	}
	return of
}

// busyAgent may hold more leases at a time than these tests need.
func (w *world) busyAgent() *agent {
	w.t.Helper()
	a := w.agent(honest)
	w.sql(`update ostraka.agents set platform = platform || '{"cpus": 256}' where id = $1`, a.id)
	return a
}

// TestASmallJobIsServedBesideALargeOne: its first lease is the next one that is given at all, and it is through when the large one has had
// about as many leases as itself.
func TestASmallJobIsServedBesideALargeOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.busyAgent()
	large := w.submit(20_000, believed)
	w.settleAll()
	for range 30 {
		require.Equal(t, large.ID, a.leased(10))
	}
	small := w.submit(200, believed)
	w.settleAll()
	require.Equal(t, small.ID, a.leased(10))
	of := map[uuid.UUID]int{}
	for of[small.ID] < 19 {
		of[a.leased(10)]++
	}
	require.InDelta(t, 19, of[large.ID], 2)
	require.Equal(t, large.ID, a.leased(10), "the small one has nothing left")
}

// TestAJobThatHasNothingToLendDelaysNobody: it is asked first for as long as it has had no turn.
func TestAJobThatHasNothingToLendDelaysNobody(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.busyAgent()
	job := w.submit(100, believed)
	w.settleAll()
	for range 3 * turns.Tries {
		w.submit(1, believed) // not split
	}
	require.Equal(t, map[uuid.UUID]int{job.ID: 5}, a.taken(5))
}

func TestMoreJobsThanAPollReadsAtFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.busyAgent()
	w.submit(1, believed)
	w.settleAll()
	for range 40 {
		w.submit(1, believed)
	}
	w.sql("update ostraka.open_jobs set turn_start = 0, turn_end = 0")
	w.sql("update ostraka.open_jobs set turn_end = 99 where job_id = (select min(job_id::text)::uuid from ostraka.open_jobs)")
	require.NotNil(t, a.lease(1), "the last one that is asked has work")
	require.Nil(t, a.lease(1))
}

func TestJobsShareTurnsByTheirPriorities(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.busyAgent()
	usual := w.submit(2000, believed)
	high := w.submit(2000, believed, func(j *functions.NewJob) { j.Priority = 7 })
	w.settleAll()
	require.Equal(t, 7, w.job(high.ID).Priority)
	require.Equal(t, turns.DefaultPriority, w.job(usual.ID).Priority)
	of := a.taken(50)
	require.InDelta(t, 40, of[high.ID], 2)
	require.InDelta(t, 10, of[usual.ID], 2)

	e, err := w.Explain(t.Context(), w.project, high.ID)
	require.NoError(t, err)
	require.NotNil(t, e.Turn)
	require.InDelta(t, 0.8, e.Turn.JobShare, 1e-9)
	require.InDelta(t, 1, e.Turn.ProjectShare, 0)
	require.Equal(t, turns.DefaultWeight, e.Turn.ProjectWeight)
	require.LessOrEqual(t, e.Turn.Before, int64(1))
	said := slices.IndexFunc(e.Reasons, func(r functions.Reason) bool { return r.Code == "turn" })
	require.GreaterOrEqual(t, said, 0, "%+v", e)
	require.Contains(t, e.Reasons[said].Text, "priority 7 and 80 % of its project's turns")

	changed, err := w.SetPriority(t.Context(), w.by, w.project, usual.ID, turns.MaxPriority)
	require.NoError(t, err)
	require.Equal(t, turns.MaxPriority, changed.Priority)
	require.Equal(t, int64(1), w.count("select count(*) from audit where action = 'job.priority'"))
	of = a.taken(50)
	require.InDelta(t, 40, of[usual.ID], 3)
	require.InDelta(t, 10, of[high.ID], 3)
}

func TestProjectsShareTurnsByTheirWeights(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.busyAgent()
	job := w.submit(2000, believed)
	mine, by := w.project, w.by
	w.project, w.by = w.newProject("others")
	w.pushFunction("numbers", "")
	_, err := w.AdmitAgent(t.Context(), w.by, w.project, a.id, "", "")
	require.NoError(t, err)
	first := w.submit(1000, believed)
	second := w.submit(1000, believed)
	w.settleAll()
	w.project, w.by = mine, by
	w.settleAll()
	of := a.taken(40)
	require.InDelta(t, 20, of[job.ID], 2, "%v", of)
	require.InDelta(t, 10, of[first.ID], 2, "%v", of)
	require.InDelta(t, 10, of[second.ID], 2, "the number of its jobs gives a project no more: %v", of)

	p, err := w.GetProject(t.Context(), mine)
	require.NoError(t, err)
	require.Equal(t, turns.DefaultWeight, p.Weight)
	_, err = w.UpdateProject(t.Context(), w.by, mine, tenant.ProjectChange{Weight: new(300)}, p.Revision)
	requireCode(t, err, "operator_sets")
	for _, wrong := range []int{turns.MinWeight - 1, turns.MaxWeight + 1} {
		_, err = w.UpdateProject(t.Context(), w.server, mine, tenant.ProjectChange{Weight: &wrong}, p.Revision)
		requireCode(t, err, "bad_weight")
	}
	for _, weight := range []int{turns.MinWeight, turns.MaxWeight, 300} {
		p, err = w.UpdateProject(t.Context(), w.server, mine, tenant.ProjectChange{Weight: &weight}, p.Revision)
		require.NoError(t, err)
		require.Equal(t, weight, p.Weight)
	}
	of = a.taken(80)
	require.InDelta(t, 60, of[job.ID], 4, "%v", of)
	e, err := w.Explain(t.Context(), mine, job.ID)
	require.NoError(t, err)
	require.InDelta(t, 0.75, e.Turn.ProjectShare, 1e-9)
}

func TestPrioritiesHaveTheirLimits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	submitter := functions.Principal{KeyID: uuid.New(), Role: functions.RoleSubmitter, Project: w.project}
	job := w.submit(1, believed)
	for _, wrong := range []int{turns.MinPriority - 1, turns.MaxPriority + 1} {
		if wrong != 0 { // which asks for none
			_, err := w.SetPriority(t.Context(), w.by, w.project, job.ID, wrong)
			requireCode(t, err, "bad_priority")
		}
		_, _, err := w.SubmitJob(t.Context(), w.by, w.project, functions.NewJob{Function: "numbers", Partition: rangeOf(1), None: true, Priority: turns.MaxPriority + 1}, functions.Idempotency{})
		requireCode(t, err, "bad_priority")
	}
	for _, edge := range []int{turns.MinPriority, turns.MaxPriority} {
		_, err := w.SetPriority(t.Context(), w.by, w.project, job.ID, edge)
		require.NoError(t, err)
	}
	_, err := w.SetPriority(t.Context(), submitter, w.project, job.ID, dispatch.MaxSubmitterPriority)
	require.NoError(t, err)
	_, err = w.SetPriority(t.Context(), submitter, w.project, job.ID, dispatch.MaxSubmitterPriority+1)
	requireCode(t, err, "priority_not_allowed")
	_, _, err = w.SubmitJob(t.Context(), submitter, w.project, functions.NewJob{Function: "numbers", Partition: rangeOf(1), None: true, Priority: dispatch.MaxSubmitterPriority + 1}, functions.Idempotency{})
	requireCode(t, err, "priority_not_allowed")
	_, err = w.SetPriority(t.Context(), w.by, w.project, uuid.New(), 3)
	requireCode(t, err, "not_found")
	_, err = w.CancelJob(t.Context(), w.by, w.project, job.ID)
	require.NoError(t, err)
	_, err = w.SetPriority(t.Context(), w.by, w.project, job.ID, 3)
	require.ErrorIs(t, err, functions.ErrJobEnded)
}

// TestALeaseThatIsHeldForLongIsSeveralTurns of its job and its project; the step counts once, however often it runs.
func TestALeaseThatIsHeldForLongIsSeveralTurns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.busyAgent()
	slow := w.submit(1000, believed)
	w.settleAll()
	require.Equal(t, map[uuid.UUID]int{slow.ID: 4}, a.taken(4))
	where := func() (job, project float64) {
		require.NoError(t, w.store.Pool.QueryRow(t.Context(), `select o.turn_end, t.turn_end from ostraka.open_jobs o
			join ostraka.project_turns t on t.project_id = o.project_id where o.job_id = $1`, slow.ID).Scan(&job, &project))
		return job, project
	}
	job, project := where()
	due := func() { w.sql("update ostraka.turns_charged set at = now() - interval '1 hour'") }
	w.sql("update ostraka.leases set lent_at = now() + interval '1 hour'") // however slow the machine is
	due()
	require.NoError(t, w.ChargeTurns(t.Context(), stepargs.ChargeTurnsArgs{}))
	nowJob, nowProject := where()
	require.Equal(t, []float64{job, project}, []float64{nowJob, nowProject}, "they are not held for long yet")
	w.sql("update ostraka.leases set lent_at = now() - interval '1 hour'")
	due()
	require.NoError(t, w.ChargeTurns(t.Context(), stepargs.ChargeTurnsArgs{}))
	require.NoError(t, w.ChargeTurns(t.Context(), stepargs.ChargeTurnsArgs{}))
	nowJob, nowProject = where()
	require.InDelta(t, job+4, nowJob, 1e-9)
	require.InDelta(t, project+4, nowProject, 1e-9)

	quick := w.submit(1000, believed)
	w.settleAll()
	require.Equal(t, map[uuid.UUID]int{quick.ID: 4}, a.taken(4), "the other one has what the first holds")
	w.sql("update ostraka.leases set lent_at = now() - interval '1 hour'")
	for range 2 * turns.Credit {
		due()
		require.NoError(t, w.ChargeTurns(t.Context(), stepargs.ChargeTurnsArgs{}))
	}
	for _, table := range []string{"open_jobs where job_id = (select job_id from ostraka.open_jobs order by job_id limit 1)", "project_turns"} {
		var debt float64
		require.NoError(t, w.store.Pool.QueryRow(t.Context(), "select turn_end - turn_start from ostraka."+table).Scan(&debt))
		require.InDelta(t, turns.Debt(1), debt, 1e-6, "one agent costs no more: %s", table)
	}
}

// TestTheDatabaseOrdersAsThePureFunctionDoes: a poll reads a part of the line only, so that both must agree.
func TestTheDatabaseOrdersAsThePureFunctionDoes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.busyAgent()
	for i := range 12 {
		w.submit(50, believed, func(j *functions.NewJob) { j.Priority = 1 + i%turns.MaxPriority })
	}
	w.settleAll()
	of := a.taken(100)
	var line []turns.Candidate
	rows, err := w.store.Pool.Query(t.Context(), "select project_id, job_id, turn_start, turn_end from ostraka.open_jobs")
	require.NoError(t, err)
	for rows.Next() {
		var c turns.Candidate
		require.NoError(t, rows.Scan(&c.Project, &c.Job, &c.JobTurn.Start, &c.JobTurn.End))
		line = append(line, c)
	}
	require.NoError(t, rows.Err())
	next := turns.Order(line)[0].Job
	require.Equal(t, next, a.leased(1), "%v", slices.Sorted(maps.Values(of)))
}
