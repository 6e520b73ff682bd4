package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/flag"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/verify"
)

// TestALimitThatTheServerConfirmsFailsTheShard: the same failure on agents and the server is no disagreement, and nobody is asked to decide.
func TestALimitThatTheServerConfirmsFailsTheShard(t *testing.T) {
	t.Parallel()
	policies := map[string]func(*functions.NewJob){
		"a bound":     bounded(1e-3),
		"recheck all": func(j *functions.NewJob) { j.Quorum, j.Recheck = 0, verify.RecheckAll },
		"none":        func(j *functions.NewJob) { j.Quorum, j.None = 0, true },
	}
	for name, policy := range policies {
		for _, status := range []string{"timeout", "memory", "log_limit"} {
			for _, agents := range []int{1, 3} {
				t.Run(name+" "+status, func(t *testing.T) {
					t.Parallel()
					limited := functions.Result{Status: status, Exception: &functions.Exception{Type: "LimitExceeded", Message: "beyond the limit"}}
					answer := func(string) functions.Result { return limited }
					c := &court{answer: func(string, uint32) functions.Result { return limited }}
					w := newWorld(t, withCourt(c))
					w.opened()
					job := w.submit(4, policy)
					w.settleAll()
					var list []*agent
					for range agents {
						list = append(list, w.agent(answer))
					}
					for range 2 {
						for _, a := range list {
							a.do(4)
							w.settleAll()
						}
						require.NoError(t, w.Stranded(t.Context(), stepargs.StrandedArgs{}))
						w.settleAll()
					}
					done := w.job(job.ID)
					require.Equal(t, functions.JobFailed, done.State, "%+v", done)
					require.Equal(t, "4 of 4 shards failed: "+status+": beyond the limit", done.Error)
					require.LessOrEqual(t, c.executed, 4, "the server executes what it confirms once")
					require.Empty(t, w.flags(job.ID, flag.FlagReview))
					w.requireUncharged(list)
					w.requireQuiet()
					w.check(job.ID)
				})
			}
		}
	}
}

// TestTheServerExecutesWhatTimedOutToo: under recheck = "all" one agent that ran out of time keeps nothing from its end.
func TestTheServerExecutesWhatTimedOutToo(t *testing.T) {
	t.Parallel()
	c := &court{}
	w := newWorld(t, withCourt(c))
	w.opened()
	job := w.submit(3, func(j *functions.NewJob) { j.Quorum, j.Recheck = 0, verify.RecheckAll })
	w.settleAll()
	w.agent(func(string) functions.Result { return functions.Result{Status: "timeout"} }).do(3)
	w.settleAll()
	done := w.job(job.ID)
	require.Equal(t, functions.JobFinished, done.State, "%+v", done)
	requireTruth(t, done, truth(rangeOf(3)))
	require.Equal(t, 3, c.executed)
	w.check(job.ID)
}
