package verify

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWindowsOfOneOwnerAddUp: however an owner divides its results and its lies among the windows of its agents, no more wrong ones are final,
// as expected, than one window with all of them may let through. It only costs more audits: these are the figures of docs/verification.md.
func TestWindowsOfOneOwnerAddUp(t *testing.T) {
	t.Parallel()
	b := Derive(Policy{TargetError: 1e-3})
	random := rand.New(rand.NewPCG(7, 11))
	for range 2000 {
		all, wrong, audits := 0, 0.0, 0
		for range 1 + random.IntN(12) {
			n := 1 + random.IntN(b.Window)
			a, ok := b.Closing(n, 1)
			require.True(t, ok)
			lies := float64(random.IntN(min(n, 200) + 1))
			wrong += lies * math.Pow(1-float64(a)/float64(n), lies)
			all, audits = all+n, audits+a
		}
		require.LessOrEqual(t, wrong, b.rho()*float64(all)+rounding)
		if all <= b.Window {
			together, ok := b.Closing(all, 1)
			require.True(t, ok)
			require.GreaterOrEqual(t, audits, together)
		}
	}
	for _, tc := range []struct{ machines, results, audits int }{{10, 100, 340}, {1, 1000, 41}, {10, 500, 400}} {
		a, ok := b.Closing(tc.results, 1)
		require.True(t, ok)
		require.Equal(t, tc.audits, tc.machines*a)
	}
}
