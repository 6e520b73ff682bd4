package verify

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestHalvings(t *testing.T) {
	for age, want := range map[time.Duration]int{-time.Hour: 0, 0: 0, HalfLife - 1: 0, HalfLife: 1, 2*HalfLife - 1: 1, 12 * HalfLife: 12} {
		require.Equal(t, want, Halvings(age), "%v", age)
	}
}

func TestFade(t *testing.T) {
	old := Evidence{Passed: 3000, Failed: 1, SinceFailure: 40, Record: 25, Cluster: "c"}
	require.Equal(t, old, old.Fade(0))
	require.Equal(t, Evidence{Passed: 1500, Failed: 1, SinceFailure: 20, Record: 12, Cluster: "c"}, old.Fade(1))
	require.False(t, old.Fade(2).OnProbation(), "ten are left")
	require.True(t, old.Fade(3).OnProbation(), "who was away for a season is on probation again")
	require.Equal(t, int64(1), old.Fade(1000).Failed, "one failure is never forgotten")
	require.True(t, Evidence{Caught: true}.Fade(1000).Caught)
}

// Whatever is known about an agent: fading in steps is fading at once, never adds to its record, and never takes it away that it failed.
func TestFadeIsSteady(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.Int64Range(0, 1<<40)
		e := Evidence{Passed: count.Draw(t, "passed"), Failed: rapid.Int64Range(0, 20).Draw(t, "failed"), SinceFailure: count.Draw(t, "since"), Record: count.Draw(t, "record"), Caught: rapid.Bool().Draw(t, "caught")}
		a, b := rapid.IntRange(0, 50).Draw(t, "a"), rapid.IntRange(0, 50).Draw(t, "b")
		faded := e.Fade(a)
		require.Equal(t, faded.Fade(b), e.Fade(a+b))
		require.LessOrEqual(t, faded.Passed, e.Passed)
		require.LessOrEqual(t, faded.SinceFailure, e.SinceFailure)
		require.LessOrEqual(t, faded.Record, e.Record)
		require.LessOrEqual(t, faded.Failed, e.Failed)
		require.Equal(t, e.Failed > 0, faded.Failed > 0)
		require.Equal(t, e.Caught, faded.Caught)
		if e.OnProbation() {
			require.True(t, faded.OnProbation(), "time alone ends no probation")
		}
		if was, _ := StandingOf(e); was == Active {
			now, why := StandingOf(faded)
			require.Equal(t, Active, now, "time alone catches nobody: %s", why)
		}
	})
}
