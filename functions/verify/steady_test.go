package verify

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWhoIsAccusedForTheFirstTime is accused by an answer that no chance explains; whoever was proven wrong before, by two.
func TestWhoIsAccusedForTheFirstTime(t *testing.T) {
	t.Parallel()
	decide := func(agents string, runs int, evidence map[string]Evidence, m Means) Decision {
		list := ballots(strings.Fields(agents)...)
		for range runs {
			list = append(list, Attempt{ID: "server", Server: true, State: Reported, Status: OK, Digest: right})
		}
		return Decide(Policy{TargetError: 1e-3}, list, evidence, m).Decision
	}
	proven := map[string]Evidence{"a": {Failed: 1}}
	for _, tc := range []struct {
		name     string
		agents   string
		evidence map[string]Evidence
		means    Means
		runs     int
	}{
		{"two answers", "a:ok:wrong", nil, Means{}, MaxServerRuns},
		{"three answers", "a:ok:wrong b:ok:other", nil, Means{}, 14},
		{"agents that agree are no further answer", "a:ok:wrong b:ok:wrong c:ok:right", nil, Means{}, MaxServerRuns},
		{"an exception that is none", "a:error:wrong", nil, Means{}, MaxServerRuns},
		{"proven wrong before", "a:ok:wrong", proven, Means{}, ServerRuns},
		{"one of two", "a:ok:wrong b:ok:wrong", proven, Means{}, MaxServerRuns},
		{"the server has no more time", "a:ok:wrong", nil, Means{Runs: 5}, 5},
		{"none at all", "a:ok:wrong", nil, Means{Runs: 1}, ServerRuns},
	} {
		for runs := 1; runs <= tc.runs; runs++ {
			want := Recheck
			if runs == tc.runs {
				want = Accept
			}
			require.Equal(t, want, decide(tc.agents, runs, tc.evidence, tc.means), "%s, executed %d times", tc.name, runs)
		}
	}
	require.Equal(t, MaxServerRuns, RunsFor(0, SteadyAfter-1))
	require.Equal(t, ServerRuns, RunsFor(0, SteadyAfter))
	require.Equal(t, MaxServerRuns, RunsFor(1, SteadyAfter), "a function that is known to be unsteady never is steady enough")
}

func TestChance(t *testing.T) {
	t.Parallel()
	require.False(t, Chance(0, 1), "without a finding nothing is chance")
	require.True(t, Chance(1, 1))
	require.True(t, Chance(1, 23))
	require.False(t, Chance(1, 26), "26 charges and one finding are liars, and one shard that is not steady")
	require.True(t, Chance(1000, 1000))
	require.False(t, Chance(10, 1000))
	dice := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var unsteady, charges int64
		for range 100 {
			if dice.Float64() < ChanceOfFinding {
				unsteady++
			} else {
				charges++
			}
			require.True(t, unsteady == 0 || Chance(unsteady, charges), "%d of %d", unsteady, unsteady+charges)
		}
	}
}
