package verify

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func sizes(owners, results int) []int { return slices.Repeat([]int{results}, owners) }

// cost is how many executions a shard takes when nobody lies, live audits aside.
func (t Together) cost(results int) float64 { return 1 + float64(t.Audits(results))/float64(results) }

func TestWindowsAreClosedTogetherWhereThatIsCheaper(t *testing.T) {
	b, server := Derive(Policy{TargetError: 1e-3}), Means{Recheck: true}
	for _, tc := range []struct {
		owners, results int
		together        bool
		executions      float64
	}{
		{100, 500, true, 1.016},
		{100, 100, true, 1.05},
		{100, 10, true, 1.4},
		{50, 20, true, 1.35},
		{20, 500, true, 1.048},
		{10, 500, false, 0}, // 41 of each are fewer
		{10, 100, false, 0},
		{10, 20, false, 0},
		{1, 1000, false, 0},
	} {
		way, ok := b.Together(sizes(tc.owners, tc.results), nil, server)
		require.Equal(t, tc.together, ok, "%+v: %+v", tc, way)
		if ok {
			require.InDelta(t, tc.executions, way.cost(tc.results), 0.01, "%+v: %+v", tc, way)
		}
	}
	_, ok := b.Together(sizes(100, 500), nil, Means{})
	require.False(t, ok, "who audits is not the server")
	_, ok = b.Together(sizes(100, 100), sizes(400, 500), server)
	require.False(t, ok, "the others would pay more than these save")
}

// TestTogetherKeepsItsPart: no more wrong results are expected to become final than the windows may spend, whatever lies are told in which of
// them, by the exact law of drawing without replacement; also where whoever tells them sees the audits of a window pass before it lies in the
// next one.
func TestTogetherKeepsItsPart(t *testing.T) {
	const mostLies = 60
	rapid.Check(t, func(t *rapid.T) {
		b := Derive(Policy{TargetError: rapid.SampledFrom([]float64{0.05, 1e-2, 1e-3}).Draw(t, "target"), AssumeHostile: rapid.SampledFrom([]float64{0.05, 0.1, 0.3}).Draw(t, "hostile")})
		known := rapid.SliceOfN(rapid.IntRange(1, 100), 2, 30).Draw(t, "sizes")
		way, ok := b.Together(known, nil, Means{Recheck: true})
		if !ok {
			return
		}
		all := 0
		stay := make([]float64, mostLies+1) // by the lies told so far, as the best liar has it
		for lies := range stay {
			stay[lies] = float64(lies)
		}
		for _, n := range slices.Backward(known) {
			all += n
			before := slices.Clone(stay)
			for lies := range stay {
				for more := 0; more <= n && lies+more <= mostLies; more++ {
					unmet := choose(n-more, way.Audits(n)) / choose(n, way.Audits(n))
					stay[lies] = max(stay[lies], unmet*before[lies+more])
				}
			}
		}
		if most := way.Part * b.TargetError * float64(all); stay[0] > most*(1+1e-9) {
			t.Fatalf("%v wrong ones of %d are expected, of %v", stay[0], all, most)
		}
	})
}

// TestTogetherAndTheRestAreTheWhole: what windows spend together and what they may spend by themselves afterwards is no more than the target
// error, of one owner whatever its share is, and of all hostile ones up to the stated share.
func TestTogetherAndTheRestAreTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := Derive(Policy{TargetError: rapid.SampledFrom([]float64{0.05, 1e-2, 1e-3}).Draw(t, "target"), AssumeHostile: rapid.SampledFrom([]float64{0.05, 0.1, 0.3}).Draw(t, "hostile")})
		known := rapid.SliceOfN(rapid.IntRange(1, 400), 2, 40).Draw(t, "sizes")
		way, ok := b.Together(known, nil, Means{Recheck: true})
		if !ok {
			return
		}
		all := int64(0)
		for _, n := range known {
			all += int64(n)
		}
		together := way.Part * b.TargetError * float64(all)
		owner := Owner{All: all, Shards: all}
		given := 0.0
		for i, n := range known {
			if owner.Results += int64(n); i > len(known)/2 {
				break
			}
			given += float64(n)
			more, risk := way.Missing(b, n, way.Audits(n), owner, Means{Recheck: true})
			if audits := way.Audits(n) + more; audits > n || more < 0 {
				t.Fatalf("%d audits of %d", audits, n)
			}
			owner.Spent += risk
		}
		if most := b.TargetError * float64(all); together+owner.Spent > most*(1+1e-9) {
			t.Fatalf("one owner may spend %v of %v", together+owner.Spent, most)
		}
		if most := (1 - way.Part) * b.rho() * given; owner.Spent > most*(1+1e-9) {
			t.Fatalf("%v of %v by themselves", owner.Spent, most)
		}
	})
}

// TestNoRuleDoesWithLess holds figures of docs/verification.md: whoever tells L lies in a job of N shards, in shards that it draws, has them
// final unless one of them is executed again. Any rule must keep L·(1−x)^L within ε·N, for the share x of the shards that it executes again.
func TestNoRuleDoesWithLess(t *testing.T) {
	const target = 1e-3
	for _, tc := range []struct {
		shards int
		least  float64
	}{{20, 1.98}, {100, 1.9}, {200, 1.8}, {400, 1.6}, {700, 1.409}, {1000, 1.307}, {5000, 1.071}, {10_000, 1.036}, {12_000, 1.03}, {50_000, 1.0073}} {
		least := 0.0
		for lies := 1; lies <= tc.shards; lies++ {
			if budget := target * float64(tc.shards) / float64(lies); budget < 1 {
				least = max(least, 1-math.Pow(budget, 1/float64(lies)))
			}
		}
		require.InDelta(t, tc.least, 1+least, 0.001, "%d shards", tc.shards)
		require.LessOrEqual(t, least, auditedShare(target*float64(tc.shards))+1e-9, "and as much is enough")
	}
}
