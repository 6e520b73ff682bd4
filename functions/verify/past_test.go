package verify

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestARecordOverAllJobs holds figures of docs/verification.md: what windows by themselves take, and what a record over all jobs of a project
// would have to be. At a rate of x a life has (1−x)/x lies that are final, and ρ for each of its results.
func TestARecordOverAllJobs(t *testing.T) {
	b := Derive(Policy{TargetError: 1e-3})
	for _, tc := range []struct {
		results    int
		executions float64
	}{{2, 2}, {10, 2}, {20, 1.85}, {40, 1.65}, {50, 1.56}, {100, 1.34}, {500, 1.08}, {1000, 1.041}} {
		audits, ok := b.Closing(tc.results, 1)
		require.True(t, ok)
		require.InDelta(t, tc.executions, 1+float64(audits)/float64(tc.results), 0.005)
	}
	const rate = 0.25
	require.InDelta(t, 444, 1/(rate*b.rho()), 1)
	require.Greater(t, 1/(math.E*-math.Log(1-rate)), 1.0, "wrong results of the one job for which it was saved up")
}
