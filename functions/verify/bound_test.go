package verify

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The numbers of the design table: Sarmenta's, for spot-checks with
// backtracking and for groups of fresh agents.
func TestDerive(t *testing.T) {
	for _, tc := range []struct {
		target, hostile float64
		audits, voices  int
	}{
		{1e-2, 0.05, 2, 2},
		{1e-2, 0.1, 5, 3},
		{1e-2, 0.2, 10, 4},
		{1e-3, 0.05, 20, 3},
		{1e-3, 0.1, 41, 4},
		{1e-3, 0.2, 92, 5},
		{1e-4, 0.05, 194, 4},
		{1e-4, 0.1, 409, 5},
		{1e-4, 0.2, 920, 7},
		{1e-6, 0.05, 19363, 5},
		{1e-6, 0.1, 40876, 7},
		{1e-6, 0.2, 91970, 10},
	} {
		b := Derive(Policy{TargetError: tc.target, AssumeHostile: tc.hostile})
		require.Equal(t, tc.audits, b.Audits, "%+v", tc)
		require.Equal(t, tc.voices, b.Voices, "%+v", tc)
		require.GreaterOrEqual(t, b.Window, b.Audits)
	}
	require.InDelta(t, DefaultHostile, Derive(Policy{TargetError: 1e-3}).Hostile, 0)
	require.Equal(t, 100, Derive(Policy{TargetError: ErrorOf(100, 0.1)}).Audits)
}

func TestPolicyWithABound(t *testing.T) {
	for _, p := range []Policy{
		{TargetError: MinTargetError},
		{TargetError: MaxTargetError, AssumeHostile: MaxHostile},
		{TargetError: 1e-3, AssumeHostile: MinHostile, MaxAttempts: 1},
		{TargetError: MinTargetError, AssumeHostile: MaxHostile},
		{Recheck: RecheckAll},
		{Recheck: RecheckAll, MaxAttempts: 2},
	} {
		require.NoError(t, p.Validate(), "%+v", p)
		require.Equal(t, 1, p.Initial(), "%+v", p)
		require.LessOrEqual(t, p.FailureLimit(), p.maxAttempts())
		require.LessOrEqual(t, p.maxAttempts(), MaxMaxAttempts)
	}
	for _, p := range []Policy{
		{TargetError: MinTargetError / 2},
		{TargetError: MaxTargetError + 1e-9},
		{TargetError: -1},
		{TargetError: math.NaN()},
		{TargetError: 1e-3, AssumeHostile: MinHostile / 2},
		{TargetError: 1e-3, AssumeHostile: MaxHostile + 1e-9},
		{TargetError: 1e-3, AssumeHostile: math.NaN()},
		{AssumeHostile: 0.1},
		{Quorum: 2, AssumeHostile: 0.1},
		{TargetError: 1e-3, Quorum: 2},
		{TargetError: 1e-3, None: true},
		{TargetError: 1e-3, Recheck: RecheckAll},
		{Recheck: "some"},
		{Recheck: RecheckAll, Quorum: 1},
	} {
		require.Error(t, p.Validate(), "%+v", p)
	}
}

// survivors is the exact expectation of wrong results that stay in a window of n
// when l are wrong and a are audited, each finding a lie with probability d.
func survivors(n, l, a int, d float64) float64 {
	expected := 0.0
	for met := 0; met <= min(l, a); met++ {
		p := choose(l, met) * choose(n-l, a-met) / choose(n, a)
		expected += p * math.Pow(1-d, float64(met))
	}
	return expected * float64(l)
}

var logFactorials = func() (sums [200]float64) {
	for i := 1; i < len(sums); i++ {
		sums[i] = sums[i-1] + math.Log(float64(i))
	}
	return sums
}()

func choose(n, k int) float64 {
	if k < 0 || k > n {
		return 0
	}
	return math.Exp(logFactorials[n] - logFactorials[k] - logFactorials[n-k])
}

// Whatever an agent does in a window, the bound holds: compared with an exact
// enumeration.
func TestClosingHoldsTheBound(t *testing.T) {
	for _, b := range []Bound{
		Derive(Policy{TargetError: 1e-3}), Derive(Policy{TargetError: 1e-2}), Derive(Policy{TargetError: 0.05}),
		Derive(Policy{TargetError: 1e-2, AssumeHostile: 0.3}),
	} {
		for _, d := range []float64{1, 1 - b.Hostile} {
			for _, n := range append(upTo(41)[1:], 75, 120, 150) {
				a, ok := b.Closing(n, d)
				if !ok {
					require.Less(t, d, 1.0, "the server's audits are always enough")
					continue
				}
				for l := 1; l <= n; l++ {
					require.LessOrEqual(t, survivors(n, l, a, d), b.rho()*float64(n)*(1+1e-9), "%+v: %d audits of %d, %d lies", b, a, n, l)
				}
			}
		}
	}
}

func TestClosing(t *testing.T) {
	b := Derive(Policy{TargetError: 1e-3})
	audits := func(n int, d float64) int { a, _ := b.Closing(n, d); return a }
	require.Equal(t, 0, audits(0, 1))
	require.Equal(t, 1, audits(1, 1), "a single result is audited")
	require.Equal(t, 10, audits(10, 1))
	require.Equal(t, 41, audits(b.Window, 1))
	require.Equal(t, 41, audits(1<<40, 1), "no window needs more")
	require.Equal(t, 46, audits(1<<40, 0.9))
	for n := 1; n < 5000; n++ {
		require.LessOrEqual(t, audits(n, 1), min(n, b.Audits))
	}
	_, ok := b.Closing(11, 0.9)
	require.False(t, ok, "one replica each is not enough")
	_, ok = b.Closing(12, 0.9)
	require.True(t, ok)
}

func TestTail(t *testing.T) {
	b := Derive(Policy{TargetError: 1e-3})
	pools := []Pool{{Agent: "none"}, {Agent: "few", Results: 5}, {Agent: "many", Results: 1000}}
	how := func(m Means) (all []Closing) {
		for _, c := range b.Tail(pools, m) {
			require.LessOrEqual(t, c.Risk, b.rho()*1000)
			c.Risk = 0
			all = append(all, c)
		}
		return all
	}
	require.Equal(t, []Closing{{Agent: "few", Audits: 5}, {Agent: "many", Audits: 41}}, how(Means{Recheck: true}))
	require.Equal(t, []Closing{{Agent: "few", Voices: 4}, {Agent: "many", Audits: 45}}, how(Means{}))
}

func TestRate(t *testing.T) {
	b := Derive(Policy{TargetError: 1e-3})
	fresh, proven := Evidence{SinceFailure: ProbationAudits - 1}, Evidence{SinceFailure: ProbationAudits}
	require.InDelta(t, ProbationRate, b.Rate(fresh, Means{}), 0)
	require.InDelta(t, LiveRate, b.Rate(proven, Means{}), 0)
	require.InDelta(t, LiveRate, b.Rate(proven, Means{Raise: 0.5}), 0, "nothing lowers it")
	require.InDelta(t, 10*LiveRate, b.Rate(proven, Means{Raise: 10}), 1e-12)
	require.InDelta(t, 1, b.Rate(fresh, Means{Raise: 1000}), 0)
}

func TestDraw(t *testing.T) {
	secret := []byte("secret")
	drawn := 0
	for n := range int64(100_000) {
		if Draw(secret, "job", n, "agent", RateOf(0.05)) {
			drawn++
			require.True(t, Draw(secret, "job", n, "agent", RateOf(0.2)), "a higher rate draws the same and more")
			require.True(t, Draw(secret, "job", n, "agent", RateOf(0.05)), "the same again")
		}
	}
	require.InDelta(t, 5000, drawn, 5*math.Sqrt(5000))
	require.True(t, Draw(secret, "job", 1, "agent", EveryResult))
	require.False(t, Draw(secret, "job", 1, "agent", 0))

	differs := func(secret []byte, job, agent string) bool {
		for n := range int64(1000) {
			if Draw(secret, job, n, agent, RateOf(0.5)) != Draw([]byte("secret"), "job", n, "agent", RateOf(0.5)) {
				return true
			}
		}
		return false
	}
	require.True(t, differs([]byte("other"), "job", "agent"))
	require.True(t, differs(secret, "jo", "bagent"), "names do not run into one another")
	require.True(t, differs(secret, "job", "other"))
}

func TestChoose(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shards := rapid.SliceOfNDistinct(rapid.Int64Range(0, 1000), 0, 50, rapid.ID).Draw(t, "shards")
		k := rapid.IntRange(0, 60).Draw(t, "k")
		chosen := Choose([]byte("secret"), "job", "agent", 3, shards, k)
		require.Len(t, chosen, min(k, len(shards)))
		require.Subset(t, shards, chosen)
		require.Equal(t, chosen, Choose([]byte("secret"), "job", "agent", 3, rapid.Permutation(shards).Draw(t, "order"), k), "the order decides nothing")
		more := Choose([]byte("secret"), "job", "agent", 3, shards, k+1)
		require.Equal(t, chosen, more[:len(chosen)], "a void audit is replaced by the next")
	})
	counts := map[int64]int{}
	for window := range int64(10_000) {
		for _, n := range Choose([]byte("secret"), "job", "agent", window, []int64{1, 2, 3, 4, 5}, 2) {
			counts[n]++
		}
	}
	for n, c := range counts {
		require.InDelta(t, 4000, c, 250, "shard %d", n)
	}
}

func TestTainted(t *testing.T) {
	require.Equal(t, Taint{}, Tainted(Passed, ""))
	require.Equal(t, Taint{}, Tainted(Void, Unstable))
	require.Equal(t, Taint{Reopen: true, Charge: true}, Tainted(Failed, ""))
	require.Equal(t, Taint{Reopen: true}, Tainted(Failed, Platform), "who is not to blame is not charged, but its results are not believed")
	require.True(t, Final(3, 3))
	require.False(t, Final(4, 3))
}

func TestClusters(t *testing.T) {
	require.Equal(t, map[string]string{"a": "a", "b": "a", "c": "a", "x": "x", "y": "x"},
		Clusters([]Alike{{"c", "b", 2}, {"a", "b", 5}, {"y", "x", 2}, {"a", "x", 1}, {"z", "z", 9}}))
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f"})
		pairs := rapid.SliceOf(rapid.Custom(func(t *rapid.T) Alike {
			return Alike{name.Draw(t, "a"), name.Draw(t, "b"), rapid.IntRange(1, 3).Draw(t, "times")}
		})).Draw(t, "pairs")
		clusters := Clusters(pairs)
		require.Equal(t, clusters, Clusters(rapid.Permutation(pairs).Draw(t, "order")))
		for _, p := range pairs {
			if p.Times >= ClusterAt && p.A != p.B {
				require.Equal(t, clusters[p.A], clusters[p.B])
			}
		}
	})
}

func TestDivergent(t *testing.T) {
	record := Evidence{Record: ProbationAudits}
	members := []Member{
		{"a", "1", "", "amd glibc", 0, 50},
		{"b", "2", "", "amd glibc", 0, 50}, // the reference
		{"c", "3", "", "arm musl", 1, 5},
		{"d", "4", "", "arm musl", 0, 5},
		{"e", "5", "", "arm musl", 0, 0},
		{"f", "6", "", "arm glibc", 0, 10},
		{"g", "6", "", "arm glibc", 0, 10}, // of one owner
		{"h", "7", "", "amd musl", 2, 5},
		{"i", "8", "", "amd musl", 0, 5}, // too many passed
		{"j", "9", "", "invented", 0, 2},
		{"k", "10", "", "invented", 0, 2}, // nobody with a record
		{"l", "11", "", "", 0, 9},
		{"m", "12", "", "", 0, 9}, // not known
	}
	evidence := map[string]Evidence{"c": record, "d": record, "f": record, "g": record, "h": record, "i": record, "j": record, "l": record, "m": record}
	want := []ClassVerdict{{Class: "arm musl", Excused: []string{"c", "d"}}, {Class: "invented"}}
	require.Equal(t, want, Divergent("amd glibc", members, evidence))
	require.Empty(t, Divergent("", members, evidence), "what to compare with is not known")
	require.Equal(t, []ClassVerdict{{Class: "invented"}}, Divergent("amd glibc", members[9:], map[string]Evidence{
		"j": record, "k": {Record: ProbationAudits - 1},
	}), "one short")
	linked := map[string]Evidence{"c": {Record: ProbationAudits, Cluster: "x"}, "d": {Record: ProbationAudits, Cluster: "x"}}
	require.Empty(t, Divergent("amd glibc", members[2:4], linked), "who lied alike before is one voice")
	require.Equal(t, "arm musl", Majority([]Member{{Class: "arm musl", Passed: 3}, {Class: "amd glibc", Passed: 2}, {Passed: 9}}))
	require.Empty(t, Majority([]Member{{Class: "arm musl", Passed: 3}, {Class: "amd glibc", Passed: 3}}))
	require.Empty(t, Majority(nil))
}
