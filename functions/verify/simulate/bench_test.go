package simulate

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTheBenchKeepsItsBars runs the short form of `make bench-trust`. It comes out the same each time.
func TestTheBenchKeepsItsBars(t *testing.T) {
	t.Parallel()
	var report bytes.Buffer
	broken, err := Bench(&report, Trials(true))
	require.NoError(t, err)
	require.Zero(t, broken, report.String())
	require.Contains(t, report.String(), "\nbars_broken 0\n")
	for _, p := range append(Populations(), Attacks()...) {
		if !strings.HasPrefix(p.Name, "captured") {
			require.Contains(t, report.String(), "| "+p.Name+" ")
		}
	}
}

// Every population is in the long form, and everything that the policy does not promise says why.
func TestTheBenchHasEveryPopulation(t *testing.T) {
	seen := map[string]bool{}
	for _, trial := range append(Trials(false), Trials(true)...) {
		require.NotEmpty(t, trial.Options.Populations, trial.Name)
		for _, p := range trial.Options.Populations {
			require.NotNil(t, p.hostile, trial.Name)
			seen[p.Name] = true
		}
		if trial.Options.Hostile > trial.Options.Assumed {
			require.NotEmpty(t, trial.Beyond, trial.Name)
		}
	}
	for _, name := range Names() {
		require.True(t, seen[name], name)
	}
}

// TestABrokenBarIsTold: a rule that keeps no bound breaks it, unless nothing is promised.
func TestABrokenBarIsTold(t *testing.T) {
	o := owners(with(Default(), 4000, Replicas, named("captured-tenth")), 10)
	o.TargetError = 1e-2
	trial := Trial{Name: "captured", Options: o, Seeds: 1, Dear: true}
	var report bytes.Buffer
	broken, err := Bench(&report, []Trial{trial})
	require.NoError(t, err)
	require.Equal(t, 1, broken)
	require.Contains(t, report.String(), "BROKEN: mean above 0.01")
	require.Contains(t, report.String(), "bars_broken 1\n")

	report.Reset()
	trial.Beyond = "nobody draws who audits"
	broken, err = Bench(&report, []Trial{trial})
	require.NoError(t, err)
	require.Zero(t, broken)
	require.Contains(t, report.String(), "beyond the promise")
	require.Contains(t, report.String(), "Beyond the promise: nobody draws who audits.")
}

// Where a rule keeps no bound, honest owners are none the less not to be ended by it.
func TestHonestOwnersInQuarantineBreakABar(t *testing.T) {
	r := row{trial: Trial{Beyond: "so"}, population: Population{}, rule: Rechecks, cells: []Cell{{Shards: 1, FalselyQuarantined: 1}, {Shards: 1, Left: 2}}}
	require.Equal(t, []string{"1 honest owners quarantined", "2 tainted results left"}, r.broken())
	r.rule = Adaptive
	require.Empty(t, r.broken())
	r.rule, r.population.unstable = Rechecks, clock
	r.cells = []Cell{{Shards: 1, FalselyCharged: 1}}
	require.Equal(t, []string{"1 honest owners charged"}, r.broken())
	r.population.unstable, r.trial = nil, Trial{Options: Options{Results: million, TargetError: 0.001}}
	r.cells = []Cell{{Shards: 1000, Executions: 1151, Wrong: 2}, {Shards: 1000, Executions: 1000}}
	require.Equal(t, []string{"worst cell above 0.001", "more than 1.15 executions"}, r.broken())
	r.trial.Dear, r.trial.Options.Results = true, fewer
	require.Empty(t, r.broken())
}
