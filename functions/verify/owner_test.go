package verify

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestOwnerShare(t *testing.T) {
	require.InDelta(t, 0.25, Owner{Results: 25, All: 100}.Share(), 1e-12)
	require.InDelta(t, 1, Owner{}.Share(), 0, "nobody else is known")
	require.InDelta(t, 1, Owner{Results: 7, All: 5}.Share(), 0)
}

func TestAuditsFollowTheOwnersShare(t *testing.T) {
	b := Derive(Policy{TargetError: 1e-3})
	audits := func(share float64, spent float64) int {
		o := Owner{Results: int64(share * 1e6), All: 1e6, Spent: spent, Shards: 1e6}
		return b.Close(Pool{Results: b.Window, Owner: o}, Means{Recheck: true}).Audits
	}
	require.Equal(t, b.Audits, audits(0.05, 0), "up to the stated share nothing changes")
	require.Equal(t, b.Audits, audits(0.1, 0))
	require.Greater(t, audits(0.2, 0), b.Audits)
	require.Greater(t, audits(0.9, 0), audits(0.5, 0))
	require.Less(t, audits(1, 0), b.Window/6, "an owner by itself is no reason to execute all twice")
	require.Equal(t, b.Window, audits(0.05, 1000), "what may be wrong of the job is spent")
	require.Equal(t, b.Window, audits(0.05, 2000))
}

// The bound holds against any single owner, whatever share of the results it takes and when: it is caught never, comes back under other
// names, and its windows may take any size. And against all owners together, up to the stated share.
func TestOneOwnerNeverSpendsMoreThanTheBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := Derive(Policy{TargetError: rapid.SampledFrom([]float64{0.05, 1e-2, 1e-3, 1e-4}).Draw(t, "target"), AssumeHostile: rapid.SampledFrom([]float64{0.05, 0.1, 0.3}).Draw(t, "hostile")})
		owner, all := Owner{Shards: rapid.Int64Range(1, 100_000).Draw(t, "shards")}, int64(0)
		together, given := 0.0, 0
		for range rapid.IntRange(1, 60).Draw(t, "windows") {
			all += rapid.Int64Range(0, 5000).Draw(t, "others")
			n := rapid.IntRange(1, b.Window).Draw(t, "n")
			owner.Results += int64(n)
			all += int64(n)
			owner.All = all
			c := b.Close(Pool{Results: n, Owner: owner}, Means{Recheck: true})
			if c.Audits > n || c.Voices != 0 {
				t.Fatalf("%+v for %d results", c, n)
			}
			owner.Spent += c.Risk
			together += c.Risk
			given += n
		}
		if most := b.TargetError * float64(owner.Shards); owner.Spent > most*(1+1e-9) {
			t.Fatalf("%v spent of %v", owner.Spent, most)
		}
		if most := b.rho() * float64(given); together > most*(1+1e-9) {
			t.Fatalf("%v spent of %v by %d results", together, most, given)
		}
	})
}

// Risk is what is expected to stay at most, compared with an exact enumeration, and goes with the audits that within asks for.
func TestRisk(t *testing.T) {
	for _, n := range []int{1, 2, 7, 40, 150} {
		for a := range n + 1 {
			for _, d := range []float64{1, 0.9} {
				worst := 0.0
				for l := 1; l <= n; l++ {
					worst = max(worst, survivors(n, l, a, d))
				}
				require.LessOrEqual(t, worst, Risk(n, a, d)*(1+1e-9), "%d of %d, %v", a, n, d)
			}
		}
	}
	require.Zero(t, Risk(0, 0, 1))
	rapid.Check(t, func(t *rapid.T) {
		n, budget := rapid.IntRange(1, 5000).Draw(t, "n"), math.Pow(10, rapid.Float64Range(-4, 3).Draw(t, "budget"))
		if a, ok := within(n, 1, budget); !ok || Risk(n, a, 1) > budget*(1+1e-9) {
			t.Fatalf("%d audits of %d: %v", a, n, Risk(n, a, 1))
		}
	})
}

// TestAgainst: the target error for any single owner and for the stated share together, and more beyond.
func TestAgainst(t *testing.T) {
	b := Derive(Policy{TargetError: 1e-3})
	require.InDelta(t, 0.9e-3, b.Against(0.1), 1e-12)
	require.InDelta(t, 0.9e-3, b.Against(0.05, 0.04, 0.01), 1e-12)
	require.InDelta(t, 1e-3, b.Against(0.9), 1e-12, "a single owner, whatever its share")
	require.InDelta(t, 2e-3, b.Against(0.4, 0.4), 1e-12)
	require.InDelta(t, 1e-3, b.StandsAt(0.1, 0.02), 1e-12)
	require.InDelta(t, 1.89e-3, b.StandsAt(0.02, 0.11), 1e-12)
	require.InDelta(t, 1e-3, b.StandsAt(1), 1e-12, "nobody else is left")
	require.InDelta(t, 1e-3, b.StandsAt(), 1e-12)
}

func TestShareCap(t *testing.T) {
	require.Equal(t, int64(100), ShareCap(0.1, 1000, 100))
	require.Equal(t, int64(500), ShareCap(0.1, 1000, 2))
	require.Equal(t, int64(101), ShareCap(0.1, 1001, 10))
	require.Equal(t, int64(1), ShareCap(0.1, 3, 100))
	require.Equal(t, int64(1), ShareCap(0.1, 7, 0), "nobody is counted")
	require.Equal(t, int64(7), ShareCap(0.1, 7, 1))
}
