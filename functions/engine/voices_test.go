package engine_test

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/dispatch"
	"github.com/ostraka/ostraka/functions/flag"
	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/functions/verify"
)

// text runs a query for one text as the project's role.
func (w *world) text(sql string, args ...any) (text string) {
	w.t.Helper()
	require.NoError(w.t, w.store.Project(w.t.Context(), w.project, func(tx *store.Tx) error {
		return tx.QueryRow(w.t.Context(), sql, args...).Scan(&text)
	}))
	return text
}

// on has the agent say that it runs on such a processor.
func (a *agent) on(arch string) *agent {
	a.w.t.Helper()
	_, err := a.w.store.Pool.Exec(a.w.t.Context(),
		`update ostraka.agents set platform = platform || jsonb_build_object('arch', $2::text, 'interpreter', 'cpython 3.14', 'libc', 'glibc 2.36') where id = $1`, a.id, arch)
	require.NoError(a.w.t, err)
	return a
}

// owned has the agent belong to somebody.
func (a *agent) owned(owner string) *agent {
	a.w.t.Helper()
	_, err := a.w.AssignOwner(a.w.t.Context(), a.w.server, a.id, owner)
	require.NoError(a.w.t, err)
	return a
}

// known gives the agent a record: answers that the server has confirmed.
func (a *agent) known(audits int) *agent {
	a.w.t.Helper()
	a.w.exec("insert into trust (agent_id, audits_passed, since_failure) values ($1, $2, $2)", a.id, audits)
	return a
}

// poll leases from an address.
func (a *agent) poll(most int, from string) *functions.Lease {
	a.w.t.Helper()
	p := dispatch.Poll{Most: most}
	if from != "" {
		p.From = netip.MustParseAddr(from)
	}
	lease, err := a.w.Lease(a.w.t.Context(), a.id, p, functions.Idempotency{})
	require.NoError(a.w.t, err)
	return lease
}

// TestALeaseNotesTheMachine: whose it is, where it speaks from and of which platform it says to be.
func TestALeaseNotesTheMachine(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.submit(20)
	w.settleAll()
	noted := func(a *agent) string {
		return w.text("select owner || ' | ' || block || ' | ' || class from lease_cursors where agent_id = $1", a.id)
	}
	a := w.sibling(honest).on("x86_64").owned("ada")
	require.NotNil(t, a.poll(2, "203.0.113.7"))
	require.Equal(t, "ada | 203.0.113.0/24 | linux/amd64, glibc 2.36, cpython 3.14", noted(a))
	require.NotNil(t, a.poll(2, "::ffff:198.51.100.9"))
	require.Equal(t, "ada | 198.51.100.0/24 | linux/amd64, glibc 2.36, cpython 3.14", noted(a), "an agent moves")
	a.on("arm64")
	require.NotNil(t, a.poll(2, "127.0.0.1"))
	require.Equal(t, "ada |  | ", noted(a), "who changes its platform is of none; an address of the machine itself says nothing")
	require.NotNil(t, a.poll(2, ""))
	require.Equal(t, "ada |  | ", noted(a))
	b := w.sibling(honest)
	require.NotNil(t, b.poll(2, "2001:4860:7:8::1"))
	require.Regexp(t, `^token:[0-9a-f-]{36} \| 2001:4860:7::/48 \| $`, noted(b), "a machine that says too little is of no platform")
}

// TestReplicasNeverGoToOneOwner: not when its agents come one after the other, and not when they come at once.
func TestReplicasNeverGoToOneOwner(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.submit(4)
	w.settleAll()
	first, second := w.sibling(honest), w.sibling(honest)
	lease := first.lease(4)
	require.Len(t, lease.Shards, 4)
	require.Nil(t, second.lease(4), "its owner has them")
	first.report(lease)
	w.settleAll()
	require.Nil(t, second.lease(4), "its owner has answered them")
	require.NoError(t, w.Stranded(t.Context(), stepargs.StrandedArgs{}))
	w.settleAll()
	stuck := w.job(job.ID)
	require.Equal(t, functions.JobRunning, stuck.State)
	e, err := w.Explain(t.Context(), w.project, job.ID)
	require.NoError(t, err)
	require.Contains(t, jsonOf(t, e.Reasons), "too_few_owners")
	require.Contains(t, jsonOf(t, e.Reasons), "1 more is missing")
	plan, err := w.PlanJob(t.Context(), w.project, functions.NewJob{Function: "numbers", Partition: rangeOf(4), Quorum: 2})
	require.NoError(t, err)
	require.True(t, plan.Forecast.Stuck)
	require.Contains(t, jsonOf(t, plan.Forecast.Notes), "it needs agents of 1 more independent owner")
	require.Equal(t, 4, w.agent(honest).do(4))
	w.settleAll()
	require.Equal(t, functions.JobFinished, w.job(job.ID).State)
	w.check(job.ID)

	trusting := w.submit(4, func(j *functions.NewJob) { j.Quorum = 1 })
	w.settleAll()
	failing := w.sibling(func(string) functions.Result { return functions.Result{Status: "timeout"} })
	require.Equal(t, 4, failing.do(4))
	w.settleAll()
	require.Equal(t, 4, second.do(4), "who believes the first answer lets another machine of the owner try")
	w.settleAll()
	require.Equal(t, functions.JobFinished, w.job(trusting.ID).State)
}

func TestSiblingsAtOnceHaveOneVoice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.work()
	job := w.submit(600, func(j *functions.NewJob) { j.Quorum = 3 })
	agents := []*agent{w.agent(honest), w.agent(honest)}
	for range 5 {
		agents = append(agents, w.sibling(honest))
	}
	done := w.swarm(job.ID, 40, agents...)
	require.Equal(t, functions.JobFinished, done.State, done.Error)
	requireTruth(t, done, truth(rangeOf(600)))
	require.Equal(t, int64(1800), done.Attempts)
	require.Zero(t, w.count(`select count(*) from (
		select from attempts a join lease_cursors c using (job_id, agent_id) group by a.shard, c.owner having count(*) > 1) twice`), "no owner has two attempts of a shard")
	w.check(job.ID)
}

// TestOneOwnerCannotSpendAShardsAttempts: its machines fail at every shard, and shards fail only when machines of enough owners do.
func TestOneOwnerCannotSpendAShardsAttempts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.submit(3)
	w.settleAll()
	crash := func(string) functions.Result { return functions.Result{Status: "killed", Signal: "SIGKILL"} }
	for range 5 {
		w.sibling(crash).do(3)
		w.settleAll()
	}
	require.Equal(t, int64(3), w.job(job.ID).Attempts, "one for each shard")
	require.Equal(t, int64(3), w.job(job.ID).Shards.Open)
	done := w.workOff(job, 3, w.agent(honest), w.agent(honest))
	require.Equal(t, functions.JobFinished, done.State, done.Error)
	requireTruth(t, done, truth(rangeOf(3)))

	hopeless := w.submit(1)
	w.settleAll()
	for range 3 { // of as many owners as it takes
		require.Equal(t, 1, w.agent(crash).do(1))
		w.settleAll()
	}
	require.Equal(t, functions.JobFailed, w.job(hopeless.ID).State)
}

// TestTheServerIsTheSecondVoice: a job with a quorum is not stuck where only one owner has agents and a server can execute shards.
func TestTheServerIsTheSecondVoice(t *testing.T) {
	t.Parallel()
	c := &court{}
	w := newWorld(t, withCourt(c))
	w.opened()
	w.pushFunction("heavy", "")
	job := w.submit(6)
	w.settleAll()
	w.sibling(honest).do(4)
	w.sibling(liar).do(2)
	w.settleAll()
	require.Zero(t, c.executed)
	for range 3 {
		require.NoError(t, w.Stranded(t.Context(), stepargs.StrandedArgs{}))
		w.settleAll()
	}
	done := w.job(job.ID)
	require.Equal(t, functions.JobFinished, done.State, "%+v", done)
	requireTruth(t, done, truth(rangeOf(6)))
	require.Equal(t, 6+verify.MaxServerRuns-1+1, c.executed, "once; where it contradicts until it is no chance, and twice where it contradicts the same agent once more")
	require.Equal(t, int64(1), w.count("select count(*) from trust where failed > 0"))
	plan, err := w.PlanJob(t.Context(), w.project, functions.NewJob{Function: "numbers", Partition: rangeOf(6), Quorum: 2})
	require.NoError(t, err)
	require.False(t, plan.Forecast.Stuck)
	require.InDelta(t, 6, plan.Forecast.Rechecks, 0.01)
	w.requireQuiet()

	w.exec("update trust set caught_at = null, failed = 0")
	c.set(func(c *court) {
		c.answer = func(string, uint32) functions.Result { return functions.Result{Status: "timeout"} }
	})
	slow := w.submit(1)
	w.settleAll()
	w.sibling(honest).do(1)
	w.settleAll()
	before := c.executed
	for range 3 {
		require.NoError(t, w.Stranded(t.Context(), stepargs.StrandedArgs{}))
		w.settleAll()
	}
	require.LessOrEqual(t, c.executed, before+2, "what the server cannot execute either is not tried for ever")
	require.Equal(t, functions.JobRunning, w.job(slow.ID).State, "it waits for another owner")
}

// TestALabMakesAgainWhatItsLiarDid: results that were taken back say nothing, so that other machines of the owner may execute the shards.
func TestALabMakesAgainWhatItsLiarDid(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withCourt(&court{}))
	w.opened()
	job := w.submit(600, bounded(1e-3))
	done := w.workOff(job, 100, w.sibling(liar), w.sibling(honest), w.sibling(honest))
	require.Equal(t, functions.JobFinished, done.State, done.Error)
	requireTruth(t, done, truth(rangeOf(600)))
	require.Equal(t, int64(1), w.count("select count(*) from trust where caught_at is not null"))
	w.requireQuiet()
}

// TestAccomplicesBecomeOneVoice: who was wrong alike is one hand, with all machines of the same owners.
func TestAccomplicesBecomeOneVoice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.submit(verify.ClusterAt, func(j *functions.NewJob) { j.Quorum = 3 })
	w.settleAll()
	for i, answer := range []func(string) functions.Result{liar, liar, honest, honest, honest} {
		a := w.sibling(answer).owned(fmt.Sprint("owner ", i))
		for a.do(8) > 0 {
			w.settleAll()
		}
	}
	require.Equal(t, functions.JobFinished, w.job(job.ID).State)
	requireTruth(t, w.job(job.ID), truth(rangeOf(verify.ClusterAt)))
	require.Equal(t, int64(verify.ClusterAt), w.count("select count(*) from wrong_alike where one = 'owner owner 0' and other = 'owner owner 1'"), "once for each shard")
	require.Equal(t, int64(verify.ClusterAt), w.count("select count(*) from wrong_alike"))

	next := w.submit(2)
	w.settleAll()
	w.sibling(liar).owned("owner 0").do(2)
	w.settleAll()
	w.sibling(liar).owned("owner 1").do(2)
	w.settleAll()
	require.Zero(t, w.job(next.ID).Shards.Accepted, "new machines of both owners are one voice, which a quorum of 2 does not believe")
	require.Contains(t, w.text("select reasons::text from shards where job_id = $1 and number = 0", next.ID), "they count as 1")
	done := w.workOff(next, 2, w.agent(honest), w.agent(honest))
	requireTruth(t, done, truth(rangeOf(2)))
	w.check(next.ID)
}

// TestTrustFades: half of it in a half-life, also that of agents which nobody hears of.
func TestTrustFades(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.agent(honest).known(40)
	w.exec("update trust set failed = 4, passed = 5000, excused_audits = 20")
	require.NoError(t, w.Retain(t.Context(), stepargs.RetentionArgs{}))
	shown := func() fleet.ProjectAgent {
		got, err := w.GetProjectAgent(t.Context(), w.project, a.id)
		require.NoError(t, err)
		return got
	}
	require.Equal(t, int64(5000), shown().Passed, "it is young")
	require.False(t, shown().Probation)
	w.exec("update trust set faded_at = now() - $1::interval", 3*verify.HalfLife+time.Hour)
	require.NoError(t, w.Retain(t.Context(), stepargs.RetentionArgs{}))
	faded := shown()
	require.Equal(t, []int64{625, 1, 5, 40}, []int64{faded.Passed, faded.Failed, faded.SinceFailure, faded.AuditsPassed}, "audits are counted altogether")
	require.True(t, faded.Probation)
	require.Equal(t, int64(2), w.count("select audits_passed - excused_audits from trust"), "the record fades, too")
	require.NoError(t, w.Retain(t.Context(), stepargs.RetentionArgs{}))
	require.Equal(t, faded.Passed, shown().Passed, "looking twice changes nothing")
	require.Equal(t, int64(1), w.count("select count(*) from trust where faded_at between now() - interval '2 hours' and now()"))
}

// platformShards is how many shards such a job has.
const platformShards = 60

// platforms is a job of which some agents' answers are not the server's.
func (w *world) platforms(agents ...*agent) functions.Job {
	w.t.Helper()
	job := w.submit(platformShards, bounded(1e-3))
	w.settleAll()
	for _, a := range agents {
		a.do(platformShards / 2)
		w.settleAll()
	}
	return w.workOff(job, platformShards, w.agent(honest).on("amd64"))
}

// TestAPlatformThatDiffersIsReportedAndNobodyIsPunished: machines of another processor round otherwise. Their owner hears of it, with both
// answers; they are not lent this version of the function any more, and everything else as before.
func TestAPlatformThatDiffersIsReportedAndNobodyIsPunished(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withCourt(&court{}))
	w.opened()
	one, two := w.agent(says(`{"n":1,"sum":0.30000000000000004}`)).on("arm64").known(verify.ProbationAudits), w.agent(says(`{"n":1,"sum":0.30000000000000004}`)).on("arm64").known(verify.ProbationAudits)
	done := w.platforms(one, two)
	require.Equal(t, functions.JobFinished, done.State, done.Error)
	requireTruth(t, done, truth(rangeOf(platformShards)))
	for _, a := range []*agent{one, two} {
		got, err := w.GetProjectAgent(t.Context(), w.project, a.id)
		require.NoError(t, err)
		require.Zero(t, got.Failed)
		require.Zero(t, got.AuditsFailed)
		require.Nil(t, got.CaughtAt)
		require.Nil(t, got.LastFailedAt)
		require.True(t, got.Probation, "it is looked at more closely, and its record begins anew")
	}
	require.Equal(t, int64(2), w.count("select count(*) from refusals where code = 'platform_differs' and until = 'infinity'"))
	require.Empty(t, w.flags(done.ID, flag.FlagCaught), "what was said too early is settled")
	flags := w.flags(done.ID, flag.FlagDivergence)
	require.NotEmpty(t, flags)
	text := jsonOf(t, w.flag(flags[0].ID))
	for _, part := range []string{"linux/arm64, glibc 2.36, cpython 3.14", "linux/amd64, glibc 2.36, cpython 3.14", "0.30000000000000004", "the server"} {
		require.Contains(t, text, part, "the flag shows both answers and where they come from")
	}
	require.Regexp(t, "agent ("+one.id.String()+"|"+two.id.String()+")", text)
	next := w.submit(2, bounded(1e-3))
	w.settleAll()
	require.Zero(t, one.do(2), "it is not lent the version again")
	e, err := w.Explain(t.Context(), w.project, next.ID)
	require.NoError(t, err)
	require.Contains(t, jsonOf(t, e.Reasons), "linux/arm64")
}

// TestAccomplicesInventNoPlatform: nobody honest shares the platform that they claim, so that it excuses nothing. It is reported all the same.
func TestAccomplicesInventNoPlatform(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withCourt(&court{}))
	w.opened()
	one, two := w.agent(liar).on("vax"), w.agent(liar).on("vax").known(verify.ProbationAudits)
	done := w.platforms(one, two)
	require.Equal(t, functions.JobFinished, done.State, done.Error)
	requireTruth(t, done, truth(rangeOf(platformShards)))
	require.Equal(t, int64(2), w.count("select count(*) from trust where failed > 0 and agent_id = any ($1)", []uuid.UUID{one.id, two.id}), "both are charged")
	require.Zero(t, w.count("select count(*) from refusals"))
	flags := w.flags(done.ID, flag.FlagDivergence)
	require.Len(t, flags, 1)
	require.Contains(t, jsonOf(t, w.flag(flags[0].ID)), "so that they stay charged")
}

// TestOneOwnerIsNoPlatform: all machines of one owner fail alike, with a record.
func TestOneOwnerIsNoPlatform(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withCourt(&court{}))
	w.opened()
	one, two := w.sibling(liar).on("arm64").known(50), w.sibling(liar).on("arm64").known(50)
	done := w.platforms(one, two)
	require.Equal(t, functions.JobFinished, done.State, done.Error)
	// What is proven against one has the other's results taken back: whether those were audited before is a matter of the draw.
	require.Positive(t, w.count("select count(*) from trust where failed > 0"))
	require.Zero(t, w.count("select count(*) from lease_cursors where failed_excused > 0 or audits_excused > 0"), "nobody is excused")
	require.Empty(t, w.flags(done.ID, flag.FlagDivergence))
}

// TestAnExcuseIsUsedUp: accomplices with a record lie alike and are let go, once.
func TestAnExcuseIsUsedUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withCourt(&court{}))
	w.opened()
	w.pushFunction("other", "")
	one, two := w.agent(liar).on("arm64").known(verify.ProbationAudits), w.agent(liar).on("arm64").known(verify.ProbationAudits)
	requireTruth(t, w.platforms(one, two), truth(rangeOf(platformShards)))
	require.Zero(t, w.count("select count(*) from trust where caught_at is not null"))
	job := w.submit(platformShards, bounded(1e-3), func(j *functions.NewJob) { j.Function = "other" })
	done := w.workOff(job, platformShards/2, one, two, w.agent(honest).on("amd64"))
	require.Equal(t, functions.JobFinished, done.State, done.Error)
	requireTruth(t, done, truth(rangeOf(platformShards)))
	require.Equal(t, int64(2), w.count("select count(*) from trust where failed > 0"), "both are charged")
	require.Equal(t, int64(2), w.count("select count(*) from refusals"), "neither is excused once more")
}
