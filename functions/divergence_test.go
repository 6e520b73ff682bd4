package functions_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
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
	flags := w.flags(job.ID, functions.FlagReview)
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
			kind := functions.FlagLimit
			if status == "killed" || status == "denied" {
				kind = functions.FlagSandbox
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
