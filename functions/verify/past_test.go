package verify

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNoPastMakesASmallJobCheap holds the figures of docs/verification.md. Who was honest until now, and tells one lie among the n results of
// a job, has it final unless that shard is executed again: the share of its results that are must be at least 1 − ρ·n, whatever is known of it.
func TestNoPastMakesASmallJobCheap(t *testing.T) {
	b := Derive(Policy{TargetError: 1e-3})
	least := func(n int) float64 { return max(1, 2-b.rho()*float64(n)) }
	for _, tc := range []struct {
		results     int
		least, this float64
	}{{2, 1.98, 2}, {20, 1.82, 1.85}, {50, 1.55, 1.56}, {78, 1.30, 1.41}, {100, 1.10, 1.34}, {500, 1, 1.08}} {
		audits, ok := b.Closing(tc.results, 1)
		require.True(t, ok)
		require.InDelta(t, tc.least, least(tc.results), 0.005)
		require.InDelta(t, tc.this, 1+float64(audits)/float64(tc.results), 0.005)
	}
	for n := 1; n <= 2*b.Window; n++ {
		audits, ok := b.Closing(n, 1)
		require.True(t, ok)
		require.GreaterOrEqual(t, 1+float64(audits)/float64(n), least(n)-rounding, "with %d results", n)
	}
	require.Greater(t, least(77), 1.3)
	require.LessOrEqual(t, least(78), 1.3)

	// What a record over all jobs would have to be: at a rate of x a life has (1−x)/x lies that are final, and ρ for each of its results.
	const rate = 0.25
	require.InDelta(t, 444, 1/(rate*b.rho()), 1)
	require.Greater(t, 1/(math.E*-math.Log(1-rate)), 1.0, "wrong results of the one job for which it was saved up")
}
