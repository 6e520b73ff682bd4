package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/flag"
	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/functions/tenant"
	"github.com/ostraka/ostraka/functions/verify"
)

// lieUntilCaught has a liar work until the project has caught it.
func (a *agent) lieUntilCaught() {
	a.w.t.Helper()
	for round := 0; a.w.count("select count(*) from trust where agent_id = $1 and caught_at is not null", a.id) == 0; round++ {
		require.Less(a.w.t, round, 50)
		require.NotZero(a.w.t, a.do(100), "it is lent shards")
		a.w.settleAll()
	}
}

// member is what the project says about an agent.
func (a *agent) member() fleet.ProjectAgent {
	a.w.t.Helper()
	m, err := a.w.GetProjectAgent(a.w.t.Context(), a.w.project, a.id)
	require.NoError(a.w.t, err)
	return m
}

// TestAnOwnerIsCaughtWithItsSecondLiar: who brings one machine after the other, each of which lies until it is caught, comes to its end.
func TestAnOwnerIsCaughtWithItsSecondLiar(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withCourt(&court{}))
	w.opened()
	job := w.submit(1000, bounded(1e-3))
	w.settleAll()
	first, second, third, other := w.sibling(liar), w.sibling(liar), w.sibling(honest), w.agent(honest)
	first.lieUntilCaught()
	held := third.lease(10)
	require.NotNil(t, held, "one machine may be broken, and its owner's others work")
	second.lieUntilCaught()

	_, err := third.post(held.ID, third.results(held.Shards)...)
	require.True(t, lostLease(err), "%v", err)
	require.Nil(t, third.lease(10), "its owner is caught")
	require.Nil(t, w.sibling(liar).lease(10), "a machine that its owner brings now is not a new one")
	m := third.member()
	require.NotNil(t, m.CaughtAt)
	require.Contains(t, m.Reason, "2 agents of its owner were caught")
	plan, err := w.PlanJob(t.Context(), w.project, functions.NewJob{Function: "numbers", Partition: rangeOf(10), TargetError: 1e-3})
	require.NoError(t, err)
	require.Equal(t, 1, plan.Agents, "the other owner's")
	e, err := w.Explain(t.Context(), w.project, job.ID)
	require.NoError(t, err)
	require.Contains(t, jsonOf(t, e.Reasons), "were caught, and are lent nothing")

	done := w.workOff(job, 200, other)
	require.Equal(t, functions.JobFinished, done.State, done.Error)
	requireTruth(t, done, truth(rangeOf(1000)))
	require.Equal(t, int64(2), w.count("select count(*) from trust where caught_at is not null"))

	_, err = w.PardonAgent(t.Context(), w.by, w.project, second.id, "its memory was broken")
	require.NoError(t, err)
	require.Nil(t, third.member().CaughtAt, "who is left is one")
	w.submit(10, bounded(1e-3))
	w.settleAll()
	require.NotNil(t, third.lease(10))
	w.requireQuiet()
}

// TestNoMachineOfACaughtOwnerIsApproved: approving, resuming or admitting one changes nothing, and whoever does so is told what would.
func TestNoMachineOfACaughtOwnerIsApproved(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withCourt(&court{}))
	w.opened()
	w.submit(1000, bounded(1e-3))
	w.settleAll()
	first, second, third, stranger := w.sibling(liar), w.sibling(liar), w.sibling(honest), w.agent(honest)
	resume := func() error {
		_, err := w.DecideAgent(t.Context(), w.server, third.id, fleet.ResumeAgent, "again")
		return err
	}
	admit := func(a *agent, owner string) error {
		_, err := w.AdmitAgent(t.Context(), w.by, w.project, a.id, owner, "again")
		return err
	}
	first.lieUntilCaught()
	require.NoError(t, resume(), "one machine of its owner may be broken")
	require.NoError(t, admit(third, ""))
	second.lieUntilCaught()

	owner := third.member().Owner
	for name, err := range map[string]error{"admitting": admit(third, ""), "resuming": resume()} {
		requireCode(t, err, "owner_caught")
		for _, part := range []string{owner, first.id.String(), second.id.String()} {
			require.ErrorContains(t, err, part, name)
		}
	}
	require.NoError(t, admit(stranger, ""))
	_, err := w.DecideAgent(t.Context(), w.server, stranger.id, fleet.ApproveAgent, "again")
	require.NoError(t, err)
	unknown := w.enrol("", "nobody's", honest)
	requireCode(t, admit(unknown, owner), "owner_caught")
	require.NoError(t, admit(unknown, "somebody else"))

	for _, a := range []*agent{third, stranger} {
		_, err = w.DecideAgent(t.Context(), w.server, a.id, fleet.QuarantineAgent, "")
		require.NoError(t, err)
	}
	requireCode(t, resume(), "owner_caught")
	_, err = w.DecideAgent(t.Context(), w.server, stranger.id, fleet.ResumeAgent, "")
	require.NoError(t, err)

	_, err = w.PardonAgent(t.Context(), w.by, w.project, first.id, "its memory was broken")
	require.NoError(t, err)
	require.NoError(t, resume())
	require.NoError(t, admit(third, ""))
	w.requireQuiet()
}

// TestStrangersAnswerForThemselves: agents that came through another project have one voice, and two liars among them end no other.
func TestStrangersAnswerForThemselves(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withCourt(&court{}))
	w.opened()
	_, err := w.UpdateProject(t.Context(), w.by, w.project, tenant.ProjectChange{AgentsOpen: new(true)}, 1)
	require.NoError(t, err)
	other, _ := w.newProject("other")
	token := w.newToken(other)
	w.submit(1000, bounded(1e-3))
	w.settleAll()
	w.enrol(token, "first", liar).lieUntilCaught()
	w.enrol(token, "second", liar).lieUntilCaught()
	require.Equal(t, int64(1), w.count("select count(distinct owner) from lease_cursors where owner like 'elsewhere:%'"))
	third := w.enrol(token, "third", honest)
	require.NotNil(t, third.lease(10))
	require.Nil(t, third.member().CaughtAt)
}

// TestAnOwnerIsOnProbationOnce: a machine that an owner adds is as well known as its others, until one of them is wrong.
func TestAnOwnerIsOnProbationOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withCourt(&court{}))
	w.opened()
	job := w.submit(1500, bounded(1e-3))
	w.settleAll()
	one, two, lying := w.sibling(honest), w.sibling(honest), w.sibling(liar)
	require.True(t, two.member().Probation)
	for one.member().SinceFailure < verify.ProbationAudits {
		require.NotZero(t, one.do(200), "audits of it pass before the job has ended: one in twenty")
		w.settleAll()
	}
	require.False(t, two.member().Probation, "it has given nothing yet")
	lying.lieUntilCaught()
	require.True(t, one.member().Probation)
	require.True(t, two.member().Probation)
	require.Nil(t, one.member().CaughtAt)
	done := w.workOff(job, 500, one, two)
	require.Equal(t, functions.JobFinished, done.State, done.Error)
	requireTruth(t, done, truth(rangeOf(1500)))
	w.requireQuiet()
}

// TestAFlagSaysThatAShareIsAboveTheStated: once for a job, until it is run again. An owner by itself may give everything.
func TestAFlagSaysThatAShareIsAboveTheStated(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withCourt(&court{}))
	w.opened()
	one, two := w.agent(honest), w.agent(honest)
	job := w.submit(20, bounded(0.05))
	w.settleAll()
	require.Equal(t, 15, one.do(15))
	w.settleAll()
	require.Empty(t, w.flags(job.ID, flag.FlagShare), "shares change while it runs")
	require.Equal(t, functions.JobFinished, w.workOff(job, 20, two).State)
	flags := w.flags(job.ID, flag.FlagShare)
	require.Len(t, flags, 1)
	require.Equal(t, int64(1), flags[0].Times)
	d := w.flag(flags[0].ID)
	require.Contains(t, jsonOf(t, d), `at most 0.05 of the results are wrong, and 0.095 where others with 10 % are hostile too`)
	require.InDelta(t, 0.095, w.job(job.ID).Owners.ErrorBound, 1e-9)
	status, err := w.InstallationStatus(t.Context())
	require.NoError(t, err)
	require.Empty(t, status.Waits, "it needs no decision")
	look, err := w.Look(t.Context(), w.project, nil)
	require.NoError(t, err)
	require.Zero(t, look.Flags.Open)

	again := w.submit(20, bounded(0.05), func(j *functions.NewJob) { j.RerunOf = &job.ID })
	require.Empty(t, w.flags(job.ID, flag.FlagShare), "the job is run again")
	require.Equal(t, functions.JobFinished, w.workOff(again, 20, one).State)
	require.Empty(t, w.flags(again.ID, flag.FlagShare), "one owner alone stays within the target, whatever it does")
	quorum := w.submit(20)
	require.Equal(t, functions.JobFinished, w.workOff(quorum, 20, one, two).State)
	require.Empty(t, w.flags(quorum.ID, flag.FlagShare), "a quorum has no bound that could be weaker")
}
