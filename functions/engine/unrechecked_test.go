package engine_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/flag"
	"github.com/ostraka/ostraka/functions/insight"
	"github.com/ostraka/ostraka/functions/stepargs"
)

// TestAgentsAreAskedWhereTheLastServerThatRechecksHasGone, after a while: audits that it was asked for must not wait for ever.
func TestAgentsAreAskedWhereTheLastServerThatRechecksHasGone(t *testing.T) {
	t.Parallel()
	c := &court{}
	w := newWorld(t, withCourt(c))
	w.opened()
	job := w.submit(40, bounded(1e-3))
	w.settleAll()
	first := w.stranger("first", honest)
	c.set(func(c *court) { c.trouble = errAway })
	var later []waiting
	for first.do(40) > 0 {
		later = append(later, w.settleUntilDelayed()...)
	}
	asked := w.count("select count(*) from rechecks")
	require.Positive(t, asked)

	// Nothing is given up while the server may come back.
	require.NoError(t, w.Stranded(t.Context(), stepargs.StrandedArgs{}))
	require.Equal(t, asked, w.count("select count(*) from rechecks"))

	_, err := w.store.Pool.Exec(t.Context(), "update ostraka.recheckers set seen_at = seen_at - $1::interval", functions.RecheckerGone)
	require.NoError(t, err)
	require.NoError(t, w.Stranded(t.Context(), stepargs.StrandedArgs{}))
	require.Equal(t, asked, w.count("select count(*) from rechecks"), "it was asked a moment ago")

	w.exec("update rechecks set asked_at = asked_at - $1::interval", functions.RecheckerGone)
	require.NoError(t, w.Stranded(t.Context(), stepargs.StrandedArgs{}))
	require.Zero(t, w.count("select count(*) from rechecks"))
	w.check(job.ID)
	w.settleAll()
	require.NotEmpty(t, w.events(job.ID, base.EventReopened))
	others := []*agent{first, w.stranger("second", honest), w.stranger("third", honest), w.stranger("fourth", honest), w.stranger("fifth", honest)}
	done := w.workOff(job, 40, others...)
	require.Equal(t, functions.JobFinished, done.State, "%+v", done)
	requireTruth(t, done, truth(rangeOf(40)))
	require.Zero(t, c.executed)

	// A server that comes back finds nothing to do.
	for _, step := range later {
		w.once(step)
	}
	w.requireQuiet()
}

// TestALiarIsCaughtByAgentsInThePlaceOfAServer: an audit that was asked of a server which has gone is one all the same when agents end
// it, so that one lie has all taken back that its agent gave.
func TestALiarIsCaughtByAgentsInThePlaceOfAServer(t *testing.T) {
	t.Parallel()
	c := &court{}
	w := newWorld(t, withCourt(c))
	w.opened()
	job := w.submit(40, bounded(1e-3))
	w.settleAll()
	c.set(func(c *court) { c.trouble = errAway })
	liar := w.stranger("liar", says(`{"n":1,"sum":"7"}`))
	for liar.do(40) > 0 {
		w.settleUntilDelayed()
	}
	drawn := w.count("select count(*) from audits where state = 'drawn'")
	require.Positive(t, drawn)
	_, err := w.store.Pool.Exec(t.Context(), "update ostraka.recheckers set seen_at = seen_at - $1::interval", functions.RecheckerGone)
	require.NoError(t, err)
	w.exec("update rechecks set asked_at = asked_at - $1::interval", functions.RecheckerGone)
	require.NoError(t, w.Stranded(t.Context(), stepargs.StrandedArgs{}))
	require.Equal(t, drawn, w.count("select count(*) from audits where state = 'drawn'"), "further agents end them")
	w.check(job.ID)
	others := []*agent{w.stranger("first", honest), w.stranger("second", honest), w.stranger("third", honest), w.stranger("fourth", honest), w.stranger("fifth", honest)}
	w.known(others...)
	done := w.workOff(job, 60, others...)
	require.Equal(t, functions.JobFinished, done.State, "%+v", done)
	requireTruth(t, done, truth(rangeOf(40)))
	require.Positive(t, w.count("select count(*) from audits where state = 'failed'"))
	require.Equal(t, int64(1), w.count("select count(*) from trust where caught_at is not null and audits_failed > 0"))
	require.Zero(t, c.executed)
}

// TestAPolicyThatWantsTheServerWaitsForIt: agents cannot stand in for it.
func TestAPolicyThatWantsTheServerWaitsForIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withCourt(&court{trouble: errAway}))
	w.opened()
	job := w.submit(5, func(j *functions.NewJob) { j.Quorum, j.Recheck = 0, "all" })
	w.settleAll()
	w.agent(honest).do(5)
	w.settleUntilDelayed()
	_, err := w.store.Pool.Exec(t.Context(), "delete from ostraka.recheckers")
	require.NoError(t, err)
	w.exec("update rechecks set asked_at = asked_at - $1::interval", functions.RecheckerGone)
	require.NoError(t, w.Stranded(t.Context(), stepargs.StrandedArgs{}))
	require.Equal(t, int64(5), w.count("select count(*) from rechecks"))
	e, err := w.Explain(t.Context(), w.project, job.ID)
	require.NoError(t, err)
	require.Equal(t, insight.ReasonRecheckNobody, e.Reasons[0].Code, "%+v", e.Reasons)
}

// TestABatchThatBreaksOffKeepsWhatItHasFoundOut, whether its daemon dies or its server is killed: what was executed counts, once, and the
// rest is executed by the next run of the step.
func TestABatchThatBreaksOffKeepsWhatItHasFoundOut(t *testing.T) {
	t.Parallel()
	c := &court{breakOff: 7}
	w := newWorld(t, withCourt(c))
	w.opened()
	job := w.submit(20, func(j *functions.NewJob) { j.Quorum, j.Recheck = 0, "all" })
	w.settleAll()
	w.agent(honest).do(20)
	later := w.settleUntilDelayed()
	require.Len(t, later, 1)
	require.Equal(t, 7, c.executed)
	require.Equal(t, int64(7), w.count("select count(*) from shards where state = 'accepted'"))
	require.Equal(t, int64(13), w.count("select count(*) from rechecks"))
	e, err := w.Explain(t.Context(), w.project, job.ID)
	require.NoError(t, err)
	require.Equal(t, "recheck_delayed", e.Reasons[0].Code, "%+v", e.Reasons)
	require.Contains(t, e.Reasons[0].Text, errAway.Error())

	// A server that was killed in the middle has recorded nothing: its step is run again from the start.
	w.once(later[0])
	w.settleAll()
	w.once(later[0])
	require.Equal(t, 20, c.executed, "nothing is executed twice")
	done := w.job(job.ID)
	require.Equal(t, functions.JobFinished, done.State)
	requireTruth(t, done, truth(rangeOf(20)))
	w.requireQuiet()
}

// TestAnUnsteadyFunctionBlamesNobody: the server's own two executions differ, so that agents that differ are not liars.
func TestAnUnsteadyFunctionBlamesNobody(t *testing.T) {
	t.Parallel()
	c := &court{answer: func(_ string, seed uint32) functions.Result { return ok(fmt.Sprintf(`{"n":1,"sum":"%d"}`, 100+seed)) }}
	w := newWorld(t, withCourt(c))
	w.opened()
	job := w.submit(6, bounded(1e-3))
	w.settleAll()
	agents := []*agent{w.stranger("first", says(`{"n":1,"sum":"7"}`)), w.stranger("second", says(`{"n":1,"sum":"8"}`)), w.stranger("third", honest)}
	for range 4 {
		for _, a := range agents {
			a.do(6)
			w.settleAll()
			w.check(job.ID)
		}
	}
	w.requireUncharged(agents)
	require.Zero(t, w.count("select count(*) from trust where caught_at is not null"))
	require.NotEmpty(t, w.flags(job.ID, flag.FlagUnsteady), "its owner is told")
}

// TestWaitingForAServerThatIsNotThereIsSaid in what /readyz shows.
func TestWaitingForAServerThatIsNotThereIsSaid(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withCourt(&court{}))
	checks, _ := w.Ready(t.Context())
	require.NotContains(t, checks, "rechecks")
	w.submit(1, func(j *functions.NewJob) { j.Quorum, j.Recheck = 0, "all" })
	w.settleAll()
	w.agent(honest).do(1)
	for _, s := range w.steps() {
		if s.Kind != (stepargs.RecheckArgs{}).Kind() {
			w.once(s)
			w.done(s)
		}
	}
	checks, ready := w.Ready(t.Context())
	require.Contains(t, checks["rechecks"], "no server executes shards")
	require.True(t, ready, "requests can be answered all the same")
}

// TestALiarIsCaughtByAgentsWhereTheServerHasNoAnswer: the server runs out of time at a shard that it was to audit. The lie that agents find
// there has all taken back that its agent gave.
func TestALiarIsCaughtByAgentsWhereTheServerHasNoAnswer(t *testing.T) {
	t.Parallel()
	c := &court{answer: func(string, uint32) functions.Result { return functions.Result{Status: "timeout"} }}
	w := newWorld(t, withCourt(c))
	w.opened()
	job := w.submit(40, bounded(1e-3))
	w.settleAll()
	liar := w.stranger("liar", says(`{"n":1,"sum":"7"}`))
	for liar.do(40) > 0 {
		w.settleAll()
	}
	require.Positive(t, c.executed)
	require.Positive(t, w.count("select count(*) from audits where state = 'drawn'"), "further agents end them")
	w.check(job.ID)
	others := []*agent{w.stranger("first", honest), w.stranger("second", honest), w.stranger("third", honest), w.stranger("fourth", honest), w.stranger("fifth", honest)}
	w.known(others...)
	done := w.workOff(job, 60, others...)
	require.Equal(t, functions.JobFinished, done.State, "%+v", done)
	requireTruth(t, done, truth(rangeOf(40)))
	require.Positive(t, w.count("select count(*) from audits where state = 'failed'"))
	require.Equal(t, int64(1), w.count("select count(*) from trust where caught_at is not null and audits_failed > 0"))
}
