package engine_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/flag"
	"github.com/ostraka/ostraka/functions/verify"
)

// TestNobodyIsChargedForAFunctionThatIsNotDeterministic: every agent gives another answer, and a person sees all of them.
func TestNobodyIsChargedForAFunctionThatIsNotDeterministic(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pushFunction("random", "[verification]\nquorum = 2\nmax_attempts = 4\n")
	job := w.submit(5, func(j *functions.NewJob) { j.Function, j.Quorum = "random", 0 })
	w.settleAll()
	var agents []*agent
	for i := range 4 {
		a := w.agent(says(fmt.Sprintf(`{"n":1,"sum":%d}`, i)))
		agents = append(agents, a)
		require.Equal(t, 5, a.do(5))
		w.settleAll()
	}
	require.Equal(t, functions.JobReview, w.job(job.ID).State)
	flags := w.flags(job.ID, flag.FlagReview)
	require.Len(t, flags, 5)
	groups := w.flag(flags[0].ID).Item.Groups
	require.Len(t, groups, 4, "the flag shows every output")
	for _, g := range groups {
		require.NotEmpty(t, g.Output)
	}
	w.requireUncharged(agents)
	w.check(job.ID)
}

// TestNobodyIsChargedForWhatHappensToMachines: time-outs, memory kills and deaths are flagged and charge nobody.
func TestNobodyIsChargedForWhatHappensToMachines(t *testing.T) {
	t.Parallel()
	for _, status := range []string{"timeout", "memory", "killed", "denied", "cpu_limit", "disk_limit"} {
		t.Run(status, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			job := w.submit(5)
			w.settleAll()
			var agents []*agent
			for i := range 4 {
				answer := honest
				if i < 2 {
					answer = func(string) functions.Result { return functions.Result{Status: status} }
				}
				a := w.agent(answer)
				agents = append(agents, a)
				a.do(5)
				w.settleAll()
			}
			require.Equal(t, functions.JobFinished, w.job(job.ID).State)
			requireTruth(t, w.job(job.ID), truth(rangeOf(5)))
			w.requireUncharged(agents)
			kind := flag.FlagLimit
			if status == "killed" || status == "denied" {
				kind = flag.FlagSandbox
			}
			for _, f := range w.flags(job.ID, kind) {
				require.Equal(t, status, f.Rule)
				require.EqualValues(t, 5, f.Times)
			}
			require.Len(t, w.flags(job.ID, kind), 2)
			w.check(job.ID)
		})
	}
}

// TestTheServerFindsThatAFunctionIsNotDeterministic: its own executions differ, so that whoever contradicts it is not to blame. A person sees
// both of its answers and the agent's.
func TestTheServerFindsThatAFunctionIsNotDeterministic(t *testing.T) {
	t.Parallel()
	c := &court{answer: func(_ string, seed uint32) functions.Result { return ok(fmt.Sprintf(`{"n":%d,"sum":0}`, 100+seed)) }}
	w := newWorld(t, withCourt(c))
	w.opened()
	job := w.submit(2, func(j *functions.NewJob) { j.Quorum, j.Recheck = 0, verify.RecheckAll })
	w.settleAll()
	a := w.agent(says(`{"n":7,"sum":0}`))
	a.do(2)
	w.settleAll()
	require.Equal(t, functions.JobReview, w.job(job.ID).State)
	w.requireUncharged([]*agent{a})
	flags := w.flags(job.ID, flag.FlagUnsteady)
	require.NotEmpty(t, flags)
	text := jsonOf(t, w.flag(flags[0].ID))
	for _, answer := range []string{`\"n\":7,`, `\"n\":100,`, `\"n\":101,`} {
		require.Contains(t, text, answer)
	}
	require.Zero(t, w.count("select count(*) from trust where failed + audits_failed > 0 or caught_at is not null"))
	require.Len(t, w.flags(job.ID, flag.FlagReview), 2)
	w.check(job.ID)
}

// TestMachinesThatFailAreNotAudited: under a bound, time-outs, deaths and memory kills of agents say nothing about their answers, and those
// of the server decide nothing.
func TestMachinesThatFailAreNotAudited(t *testing.T) {
	t.Parallel()
	for _, status := range []string{"timeout", "memory", "killed"} {
		t.Run(status, func(t *testing.T) {
			t.Parallel()
			c := &court{}
			w := newWorld(t, withCourt(c))
			w.opened()
			job := w.submit(20, bounded(1e-3))
			w.settleAll()
			weak := w.agent(func(string) functions.Result { return functions.Result{Status: status} })
			weak.do(20)
			w.settleAll()
			strong := w.agent(honest)
			done := w.workOff(job, 20, strong)
			require.Equal(t, functions.JobFinished, done.State, done.Error)
			requireTruth(t, done, truth(rangeOf(20)))
			require.Zero(t, w.count("select count(*) from audits where agent_id = $1", weak.id))

			c.set(func(c *court) {
				c.answer = func(string, uint32) functions.Result { return functions.Result{Status: status} }
			})
			lost := w.submit(1, bounded(1e-3))
			w.settleAll()
			strong.do(1)
			w.settleAll()
			require.False(t, w.job(lost.ID).State.Ended(), "the server could not execute it either, and nothing follows from that")
			w.requireUncharged([]*agent{weak, strong})
			require.Zero(t, w.count("select count(*) from audits where state = 'failed'"))
		})
	}
}

// requireUncharged makes sure that nothing speaks against any of the agents.
func (w *world) requireUncharged(agents []*agent) {
	w.t.Helper()
	list, err := w.ListProjectAgents(w.t.Context(), w.project, functions.ListPage{Limit: functions.MaxListLimit})
	require.NoError(w.t, err)
	require.Len(w.t, list, len(agents))
	for _, a := range list {
		require.Zero(w.t, a.Failed, a.Name)
		require.Nil(w.t, a.CaughtAt, a.Name)
	}
}

// TestWhoeverRunsOutOfTimeFailsNoShardAlone: the server executes a shard that nobody has answered before it fails; where it has no answer
// either, the shard fails after all, and nothing is tried for ever.
func TestWhoeverRunsOutOfTimeFailsNoShardAlone(t *testing.T) {
	t.Parallel()
	for name, policy := range map[string]func(*functions.NewJob){
		"recheck all": func(j *functions.NewJob) { j.Quorum, j.Recheck = 0, verify.RecheckAll },
		"a bound":     bounded(1e-3),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &court{}
			w := newWorld(t, withCourt(c))
			w.opened()
			job := w.submit(2, policy)
			w.settleAll()
			late := func(string) functions.Result { return functions.Result{Status: "timeout"} }
			var agents []*agent
			for range 5 {
				agents = append(agents, w.agent(late))
			}
			done := w.workOff(job, 2, agents...)
			require.Equal(t, functions.JobFinished, done.State, "%+v", done)
			requireTruth(t, done, truth(rangeOf(2)))
			require.Equal(t, 2, c.executed)
			w.requireUncharged(agents)
			w.check(job.ID)

			c.set(func(c *court) { c.answer = func(string, uint32) functions.Result { return late("") } })
			lost := w.submit(1, policy)
			w.settleAll()
			for range 8 {
				agents = append(agents, w.agent(late))
			}
			done = w.workOff(lost, 1, agents...)
			require.Equal(t, functions.JobFailed, done.State, "%+v", done)
			w.requireUncharged(agents)
			w.check(lost.ID)
		})
	}
}
