package engine_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/policy"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/trust/execution"
	"github.com/ostraka/ostraka/guardian"
)

// requireHeld finds the rechecks of a job where they were, and explained.
func (w *world) requireHeld(job functions.Job, shards int64, code, text string) {
	w.t.Helper()
	require.Equal(w.t, shards, w.count("select count(*) from rechecks where job_id = $1 and batch is null", job.ID), "nothing is lost")
	require.False(w.t, w.job(job.ID).State.Ended(), "nothing is decided")
	e, err := w.Explain(w.t.Context(), w.project, job.ID)
	require.NoError(w.t, err)
	for _, r := range e.Reasons {
		if r.Code == code {
			require.Contains(w.t, r.Text, text)
			require.NotEmpty(w.t, r.Hint)
			return
		}
	}
	require.Fail(w.t, "it is not explained", "%s: %+v", code, e.Reasons)
}

// lookAfter is what happens every few seconds.
func (w *world) lookAfter() {
	w.t.Helper()
	require.NoError(w.t, w.Stranded(w.t.Context(), stepargs.StrandedArgs{}))
}

// TestRefusedRechecksWaitForTheRuleToGo while those of another job go on, and no step goes round and round.
func TestRefusedRechecksWaitForTheRuleToGo(t *testing.T) {
	t.Parallel()
	c := &court{}
	w := newWorld(t, withCourt(c))
	w.opened()
	refused := w.reported(3)
	w.guard(guardRule("no-servers", guardian.Deny, aboutJob(refused.ID), guardian.JobRecheck))
	other := w.reported(2)
	w.settleAll()
	require.Equal(t, 2, c.executed, "another job's go on")
	require.Equal(t, functions.JobFinished, w.job(other.ID).State)
	w.lookAfter()
	require.Empty(t, w.rechecksOf(w.project))
	require.Zero(t, w.count("select count(*) from recheck_batches"))
	w.requireHeld(refused, 3, execution.HeldByRule, "rule no-servers of the layer project, version 1: because no-servers")

	// Asked again after a while, it is refused again.
	w.inProject("update recheck_holds set until = now()")
	w.lookAfter()
	require.Len(t, w.rechecksOf(w.project), 1)
	w.settleAll()
	w.requireHeld(refused, 3, execution.HeldByRule, "no-servers")

	require.NoError(t, w.DeleteGuardianRule(t.Context(), w.by, w.project, "no-servers", 1))
	w.lookAfter()
	w.settleAll()
	require.Equal(t, 5, c.executed)
	require.Equal(t, functions.JobFinished, w.job(refused.ID).State)
	require.Zero(t, w.count("select count(*) from recheck_holds"))
	w.requireQuiet()
}

// TestABatchThatWasBegunIsHeldAsWell: the rule came while it was cut off.
func TestABatchThatWasBegunIsHeldAsWell(t *testing.T) {
	t.Parallel()
	c := &court{trouble: errAway}
	w := newWorld(t, withCourt(c))
	w.opened()
	job := w.reported(2)
	later := w.settleUntilDelayed()
	require.Len(t, later, 1)
	require.Equal(t, int64(2), w.count("select count(*) from rechecks where batch is not null"))
	c.set(func(c *court) { c.trouble = nil })
	_, err := w.SetGuardianRule(t.Context(), w.server, uuid.Nil, guardRule("no-servers", guardian.Deny, "", guardian.SandboxOpen), 0)
	require.NoError(t, err)
	w.once(later[0])
	w.requireHeld(job, 2, execution.HeldByRule, "of the layer operator")
	require.NoError(t, w.DeleteGuardianRule(t.Context(), w.server, uuid.Nil, "no-servers", 1))
	w.lookAfter()
	w.settleAll()
	require.Equal(t, functions.JobFinished, w.job(job.ID).State)
}

// TestHeldRechecksAreNotGivenToAgents however long they wait, though those of a server that does not come to it are.
func TestHeldRechecksAreNotGivenToAgents(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withCourt(&court{}))
	w.opened()
	w.guard(guardRule("no-servers", guardian.Deny, "", guardian.JobRecheck))
	job := w.submit(40, bounded(1e-3))
	w.settleAll()
	first := w.stranger("first", honest)
	for first.do(40) > 0 {
		w.settleAll()
	}
	asked := w.count("select count(*) from rechecks")
	require.Positive(t, asked)
	w.exec("update rechecks set asked_at = asked_at - $1::interval", functions.RecheckerGone)
	w.inProject("update recheck_holds set until = now()")
	w.lookAfter()
	w.settleAll()
	w.requireHeld(job, asked, execution.HeldByRule, "no-servers")
}

// TestRechecksThatARuleAsksAboutGoOnWithAYes without anybody asking for them again.
func TestRechecksThatARuleAsksAboutGoOnWithAYes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withCourt(&court{}))
	w.opened()
	w.guard(guardRule("ask-first", guardian.Ask, "job.shards == 2 && job.verification.recheck_all", guardian.JobRecheck))
	job := w.reported(2)
	w.settleAll()
	w.requireHeld(job, 2, execution.HeldForApproval, "ask-first")
	list, err := w.ListApprovals(t.Context(), w.project, policy.ApprovalWaiting, functions.ListPage{Limit: 10})
	require.NoError(t, err)
	require.Len(t, list, 1)
	_, err = w.DecideApproval(t.Context(), w.by, w.project, list[0].ID, true, "fine")
	require.NoError(t, err)
	w.inProject("update recheck_holds set until = now()")
	w.lookAfter()
	w.settleAll()
	require.Equal(t, functions.JobFinished, w.job(job.ID).State)
}

// TestServersKeepToConditionsToo holds rechecks whose server has a weaker sandbox than a rule wants, and those of a job whose time is over.
func TestServersKeepToConditionsToo(t *testing.T) {
	t.Parallel()
	clock := &watch{}
	w := newWorld(t, withCourt(&court{}), guarded(clock)) // its level is container
	w.opened()
	rule := w.guard(allowing("strong", guardian.Conditions{Isolation: "gvisor"}, guardian.SandboxOpen))
	job := w.reported(2)
	w.settleAll()
	w.requireHeld(job, 2, execution.HeldForIsolation, "isolation gvisor at least, and the server's sandbox is container")
	rule.Conditions.Isolation = "container"
	_, err := w.SetGuardianRule(t.Context(), w.by, w.project, rule.Rule, 1)
	require.NoError(t, err)
	w.lookAfter()
	w.settleAll()
	require.Equal(t, functions.JobFinished, w.job(job.ID).State)

	w.guard(allowing("today", guardian.Conditions{ValidUntil: time.Now().Add(time.Hour)}, guardian.JobSubmit))
	late := w.reported(2)
	clock.step(time.Hour)
	w.settleAll()
	w.requireHeld(late, 2, execution.HeldByRule, "it was allowed until")
	_, err = w.CancelJob(t.Context(), w.by, w.project, late.ID)
	require.NoError(t, err)
	w.inProject("update recheck_holds set until = now()")
	w.lookAfter()
	w.settleAll()
}
