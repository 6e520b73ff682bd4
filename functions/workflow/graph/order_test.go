package graph

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func names(steps []Step) (list []string) {
	for _, s := range steps {
		list = append(list, s.Name)
	}
	return list
}

// steps draws steps that need others; whether they go round in a circle is chance.
func steps(t *rapid.T, circles bool) []Step {
	n := rapid.IntRange(1, 12).Draw(t, "n")
	list := make([]Step, n)
	for i := range list {
		list[i].Name = fmt.Sprintf("s%d", i)
		most := i
		if circles {
			most = n
		}
		for j := range most {
			if rapid.IntRange(0, 3).Draw(t, "needs") == 0 {
				list[i].Needs = append(list[i].Needs, fmt.Sprintf("s%d", j))
			}
		}
	}
	return rapid.Permutation(list).Draw(t, "order")
}

func TestEachStepComesAfterWhatItNeeds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := steps(t, rapid.Bool().Draw(t, "circles"))
		ordered, err := order(list)
		if err != nil {
			require.ErrorContains(t, err, "wait for one another")
			return
		}
		require.ElementsMatch(t, names(list), names(ordered))
		for i, s := range ordered {
			for _, n := range s.Needs {
				require.Contains(t, names(ordered[:i]), n)
			}
		}
	})
}

func TestCircles(t *testing.T) {
	_, err := order([]Step{{Name: "a"}, {Name: "b", Needs: []string{"d", "a"}}, {Name: "c", Needs: []string{"b"}}, {Name: "d", Needs: []string{"c"}}, {Name: "e", Needs: []string{"d"}}})
	require.ErrorContains(t, err, "b needs d needs c needs b")
	_, err = order([]Step{{Name: "a", Needs: []string{"b", "b"}}, {Name: "b"}})
	require.ErrorContains(t, err, "named twice")
}

func TestBefore(t *testing.T) {
	ordered, err := order([]Step{{Name: "d", Needs: []string{"c"}}, {Name: "c", Needs: []string{"a"}}, {Name: "a"}, {Name: "b"}})
	require.NoError(t, err)
	d := &Definition{Steps: ordered}
	require.Equal(t, []string{"a", "c"}, d.Before(d.Step("d")))
	require.Empty(t, d.Before(d.Step("b")))
}

// TestEachRunComesToItsEnd plays runs: jobs end in any way and order, and people pause, resume and cancel.
func TestEachRunComesToItsEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list, err := order(steps(t, false))
		require.NoError(t, err)
		at := make([]Progress, len(list))
		for i := range at {
			at[i].State = StepWaiting
		}
		run, acts := RunRunning, 0
		for !run.Ended() || slices.ContainsFunc(at, func(p Progress) bool { return p.State == StepRunning || p.State == StepWaiting }) {
			switch next := Next(run, list, at); next.Kind {
			case ActNothing:
				run = idle(t, run, at)
			case ActBegin:
				require.Equal(t, RunRunning, run)
				require.True(t, ready(list, at, list[next.Step]))
				require.Equal(t, StepWaiting, at[next.Step].State)
				at[next.Step].State = StepRunning
			case ActSettle:
				at[next.Step].State = rapid.SampledFrom([]StepState{StepFinished, StepFinished, StepFailed}).Draw(t, "outcome")
			case ActStop:
				require.Equal(t, RunCancelled, run)
				at[next.Step].Ended = true
			case ActDrop:
				for i := range at {
					if at[i].State == StepWaiting {
						at[i].State = next.Drop
					}
				}
			case ActEnd:
				run = next.State
			}
			acts++
			require.Less(t, acts, 10*len(list)+50)
		}
		require.Equal(t, ActNothing, Next(run, list, at).Kind, "it stays at its end")
		failed := slices.ContainsFunc(at, func(p Progress) bool { return p.State == StepFailed })
		if run != RunCancelled {
			require.Equal(t, failed, run == RunFailed)
		}
	})
}

// idle is what happens while a run has nothing to do: a job ends, or a person acts.
func idle(t *rapid.T, run RunState, at []Progress) RunState {
	if run == RunPaused {
		return rapid.SampledFrom([]RunState{RunRunning, RunRunning, RunCancelled}).Draw(t, "resume")
	}
	i := slices.IndexFunc(at, func(p Progress) bool { return p.State == StepRunning })
	require.GreaterOrEqual(t, i, 0, "a run that has nothing to do waits for a job")
	at[i].Ended = true
	if !run.Ended() && rapid.IntRange(0, 9).Draw(t, "act") == 0 {
		return rapid.SampledFrom([]RunState{RunPaused, RunCancelled}).Draw(t, "to")
	}
	return run
}
