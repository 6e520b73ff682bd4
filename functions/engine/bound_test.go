package engine_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/flag"
	"github.com/ostraka/ostraka/functions/stepargs"
)

// workOff lets agents take turns until the job ends.
func (w *world) workOff(job functions.Job, batch int, agents ...*agent) functions.Job {
	w.t.Helper()
	w.settleAll()
	for round := 0; ; round++ {
		require.Less(w.t, round, 100, "%+v", w.job(job.ID))
		for _, a := range agents {
			a.do(batch)
			w.settleAll()
			w.check(job.ID)
		}
		if now := w.job(job.ID); now.State.Ended() || now.State.Waits() {
			return now
		}
	}
}

func TestHonestAgentsKeepTheBoundAtTheirOwnExpense(t *testing.T) {
	t.Parallel()
	c := &court{}
	w := newWorld(t, withCourt(c))
	w.opened()
	job := w.submit(3000, bounded(1e-3))
	done := w.workOff(job, 300, w.agent(honest), w.agent(honest), w.agent(honest))
	require.Equal(t, functions.JobFinished, done.State, done.Error)
	requireTruth(t, done, truth(rangeOf(3000)))
	require.Equal(t, int64(3000), done.Attempts, "nobody executed a shard twice")
	require.Less(t, c.executed, 500, "the server few, though each owner has a third of the results")
	require.Greater(t, c.executed, 60)
	require.Zero(t, done.Shards.Provisional)
	require.Zero(t, w.count("select count(*) from audits where state <> 'passed'"))
	require.Zero(t, w.count("select count(*) from flags where kind <> 'share'"))
	require.Len(t, w.flags(job.ID, flag.FlagShare), 1, "each owner has more than a tenth, which is said once")
	w.requireQuiet()
}

func TestALiarIsCaughtAndItsResultsAreTakenBack(t *testing.T) {
	t.Parallel()
	c := &court{}
	w := newWorld(t, withCourt(c))
	w.opened()
	job := w.submit(2500, bounded(1e-3))
	agents := []*agent{w.agent(honest), w.agent(liar), w.agent(honest)}
	done := w.workOff(job, 200, agents...)
	require.Equal(t, functions.JobFinished, done.State, done.Error)
	requireTruth(t, done, truth(rangeOf(2500)))
	require.Equal(t, int64(1), w.count("select count(*) from trust where caught_at is not null"))
	require.Zero(t, w.count("select count(*) from shards where agent_id = $1", agents[1].id), "nothing of the liar's is accepted")
	require.Zero(t, w.count("select count(*) from incidents"))
	require.NotEmpty(t, w.events(job.ID, base.EventReopened))
	w.requireQuiet()
}

// TestAShardThatNobodyIsLeftForGoesToAPerson has no server that executes shards, and too few agents to outweigh two liars.
func TestAShardThatNobodyIsLeftForGoesToAPerson(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.submit(2, bounded(1e-3))
	w.settleAll()
	agents := []*agent{w.stranger("stranger-1", honest), w.stranger("stranger-2", says(`{"n":7,"sum":7}`)), w.stranger("stranger-3", liar), w.stranger("stranger-4", honest), w.stranger("stranger-5", honest), w.stranger("stranger-6", honest)}
	for pass := range 2 { // a shard that was not drawn at once is opened when the other one is with a person
		for range agents {
			for _, a := range agents {
				a.do(2)
				w.settleAll()
			}
		}
		if pass == 0 {
			require.Equal(t, functions.JobRunning, w.job(job.ID).State, "%+v", w.job(job.ID))
		}
		require.NoError(t, w.Stranded(t.Context(), stepargs.StrandedArgs{}))
		w.settleAll()
		w.check(job.ID)
	}
	done := w.job(job.ID)
	require.Equal(t, functions.JobReview, done.State, "%+v", done)
	flags := w.flags(job.ID, flag.FlagReview)
	require.Len(t, flags, 2)
	require.Len(t, w.flag(flags[0].ID).Item.Groups, 3, "the flag shows every answer")
	w.requireUncharged(agents)
	w.requireQuiet()
	require.NoError(t, w.Stranded(t.Context(), stepargs.StrandedArgs{}), "a second look finds nothing")
	require.Len(t, w.flags(job.ID, flag.FlagReview), 2)
}

// TestAnswersThatAgreeWaitForFurtherAgents: nothing speaks against them, and more agents may come.
func TestAnswersThatAgreeWaitForFurtherAgents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.submit(2, bounded(1e-3))
	var agents []*agent
	for i := range 4 {
		w.settleAll()
		agents = append(agents, w.stranger(fmt.Sprintf("stranger-%d", i), honest))
		for range 3 { // a shard that was not drawn at once is opened when the other one is settled
			for _, a := range agents {
				a.do(2)
				w.settleAll()
			}
		}
		require.NoError(t, w.Stranded(t.Context(), stepargs.StrandedArgs{}))
		w.settleAll()
		require.Zero(t, w.job(job.ID).Shards.Review)
		if w.job(job.ID).Shards.Open > 0 {
			e, err := w.Explain(t.Context(), w.project, job.ID)
			require.NoError(t, err)
			require.Equal(t, "tried_by_all", e.Reasons[0].Code, e)
			require.Contains(t, e.Reasons[0].Text, "needs 4 independent agents")
		}
	}
	require.Equal(t, functions.JobFinished, w.job(job.ID).State, "four agree")
	require.Zero(t, w.count("select count(*) from flags where kind <> 'share'"), "nothing but that four owners are few")
}

// TestAnAccomplicePassesNoLie has no server that executes shards: the liar's results are audited by other agents, and its accomplice comes
// first for all of them.
func TestAnAccomplicePassesNoLie(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.submit(12, bounded(1e-3))
	w.settleAll()
	lying, accomplice := w.stranger("stranger-7", liar), w.stranger("stranger-8", liar)
	for lying.do(12) > 0 {
		w.settleAll()
	}
	for accomplice.do(12) > 0 {
		w.settleAll()
	}
	require.Zero(t, w.count("select count(*) from shards where state = 'accepted' and awaits is null"), "two are too few")
	agents := []*agent{w.stranger("stranger-9", honest), w.stranger("stranger-10", honest), w.stranger("stranger-11", honest), w.stranger("stranger-12", honest), w.stranger("stranger-13", honest), w.stranger("stranger-14", honest)}
	done := w.workOff(job, 12, agents...)
	require.Equal(t, functions.JobFinished, done.State, done.Error)
	requireTruth(t, done, truth(rangeOf(12)))
	w.requireQuiet()
}
