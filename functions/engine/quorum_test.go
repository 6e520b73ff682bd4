package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/engine"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/submit"
	"github.com/ostraka/ostraka/functions/tenant"
)

// spotted has servers execute so large a share of what quorums accept.
func spotted(share float64) func(*engine.Options) {
	return func(o *engine.Options) { o.QuorumAudits = share }
}

func quorumOf(n int) func(*functions.NewJob) {
	return func(j *functions.NewJob) { j.Quorum = n }
}

// TestAccomplicesUnderAQuorumAreFoundOut: two owners that lease everything first and lie alike. The share that is drawn is all here, so that the
// test does not depend on the draw.
func TestAccomplicesUnderAQuorumAreFoundOut(t *testing.T) {
	t.Parallel()
	c := &court{}
	w := newWorld(t, withCourt(c), spotted(1))
	w.opened()
	job := w.submit(40, quorumOf(2))
	w.settleAll()
	one, two := w.agent(liar), w.agent(liar)
	for range 2 {
		for _, a := range []*agent{one, two} {
			a.do(20)
		}
	}
	w.settleAll()
	w.check(job.ID)
	require.Equal(t, int64(2), w.count("select count(*) from trust where caught_at is not null"))
	done := w.workOff(job, 40, w.agent(honest), w.agent(honest))
	require.Equal(t, functions.JobFinished, done.State, done.Error)
	requireTruth(t, done, truth(rangeOf(40)))
	w.requireQuiet()
}

// TestAShareOfAQuorumIsChecked: secretly drawn, and honest agents pass.
func TestAShareOfAQuorumIsChecked(t *testing.T) {
	t.Parallel()
	c := &court{}
	w := newWorld(t, withCourt(c), spotted(0.1))
	w.opened()
	job := w.submit(1000, quorumOf(2))
	done := w.workOff(job, 500, w.agent(honest), w.agent(honest))
	require.Equal(t, functions.JobFinished, done.State, done.Error)
	requireTruth(t, done, truth(rangeOf(1000)))
	require.InDelta(t, 100, c.executed, 80, "a tenth: eight standard deviations are left to the draw")
	require.Zero(t, done.Shards.Provisional)
	require.Zero(t, w.count("select count(*) from trust where failed > 0"))
	w.requireQuiet()
}

// TestAQuorumDoesNotWaitForAServerThatIsGone, nor for one that runs out of time.
func TestAQuorumDoesNotWaitForAServerThatIsGone(t *testing.T) {
	t.Parallel()
	c := &court{}
	w := newWorld(t, withCourt(c), spotted(1))
	w.opened()
	agents := []*agent{w.agent(honest), w.agent(honest)}
	c.set(func(c *court) {
		c.answer = func(string, uint32) functions.Result { return functions.Result{Status: "timeout"} }
	})
	slow := w.workOff(w.submit(5, quorumOf(2)), 5, agents...)
	require.Equal(t, functions.JobFinished, slow.State, "the server has no answer, and the quorum has: %+v", slow)

	c.set(func(c *court) { c.trouble = errAway })
	job := w.submit(5, quorumOf(2))
	w.settleAll()
	for _, a := range agents {
		a.do(5)
	}
	w.settleUntilDelayed()
	require.Equal(t, int64(5), w.job(job.ID).Shards.Provisional)
	w.sql("update ostraka.recheckers set seen_at = seen_at - $1::interval", functions.RecheckerGone)
	w.exec("update rechecks set asked_at = asked_at - $1::interval", functions.RecheckerGone+time.Second)
	require.NoError(t, w.Stranded(t.Context(), stepargs.StrandedArgs{}))
	w.settleUntilDelayed()
	w.check(job.ID)
	require.Equal(t, functions.JobFinished, w.job(job.ID).State)
	requireTruth(t, w.job(job.ID), truth(rangeOf(5)))
}

// TestAQuorumOfStrangersWarns, where nothing but their own agreement is asked of them.
func TestAQuorumOfStrangersWarns(t *testing.T) {
	t.Parallel()
	c := &court{}
	w := newWorld(t, withCourt(c))
	require.Empty(t, w.submit(2, quorumOf(2)).Warnings, "those that it has invited")
	_, err := w.UpdateProject(t.Context(), w.by, w.project, tenant.ProjectChange{AgentsOpen: new(true)}, 1)
	require.NoError(t, err)
	job := w.submit(2, quorumOf(2))
	require.Len(t, job.Warnings, 1)
	require.Equal(t, submit.WarnUncheckedQuorum, job.Warnings[0].Code)
	require.Contains(t, job.Warnings[0].Hint, ": ostraka project set --agents listed", "the command takes no argument")
	require.NotEmpty(t, job.Warnings[0].Hint)
	plan, err := w.PlanJob(t.Context(), w.project, functions.NewJob{Function: "numbers", Partition: rangeOf(2), Quorum: 2})
	require.NoError(t, err)
	require.Equal(t, job.Warnings, plan.Warnings)
	require.Empty(t, w.submit(2, bounded(1e-3)).Warnings)
	w.opened()
	require.Empty(t, w.submit(2, quorumOf(2)).Warnings, "a server looks at some of it")
}

// TestAgentsWithoutAnOwnerAreOneVoice: those that a project has admitted without saying whose they are.
func TestAgentsWithoutAnOwnerAreOneVoice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.submit(3, quorumOf(2))
	w.settleAll()
	for _, name := range []string{"one", "two", "three"} {
		a := w.enrol("", name, liar)
		_, err := w.AdmitAgent(t.Context(), w.by, w.project, a.id, "", "welcome")
		require.NoError(t, err)
		a.do(3)
		w.settleAll()
	}
	require.Equal(t, int64(3), w.job(job.ID).Attempts, "one for each shard")
	known := w.enrol("", "known", honest)
	_, err := w.AdmitAgent(t.Context(), w.by, w.project, known.id, "carol", "a friend's")
	require.NoError(t, err)
	require.Equal(t, 3, known.do(3))
	done := w.workOff(job, 3, w.agent(honest))
	require.Equal(t, functions.JobFinished, done.State, done.Error)
	requireTruth(t, done, truth(rangeOf(3)))
}
