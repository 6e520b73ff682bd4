package verify

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAnswerRisk(t *testing.T) {
	for _, c := range []struct {
		bound  float64
		shards int64
		risk   float64
	}{{1e-3, 400, 0.4}, {1e-3, 1000, 1}, {1e-3, 1_000_000, 1}, {0, 1_000_000, 0}, {0.1, 1, 0.1}, {0.1, 0, 0}} {
		require.InDelta(t, c.risk, AnswerRisk(c.bound, c.shards), 1e-12, "%+v", c)
	}
}

// TestForAnswer: with a server it executes every shard where that is not dearer; without one, agents that agree have to do.
func TestForAnswer(t *testing.T) {
	for _, c := range []struct {
		name     string
		risk     float64
		shards   int64
		recheck  bool
		agents   int
		by       string
		perShard float64
	}{
		{"exact, by the server", ExactRisk, 400, true, 10, RecheckAll, 2},
		{"exact, of one shard", ExactRisk, 1, true, 10, RecheckAll, 2},
		{"exact, of ten million", ExactRisk, 10_000_000, true, 10, RecheckAll, 2},
		{"exact, by agents alone", ExactRisk, 400, false, 20, "", 10.06},
		{"one in a hundred", 0.01, 400, true, 10, RecheckAll, 2},
		{"an even chance of a large job is had for less", 0.5, 400, true, 10, "", 1.6},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := Means{Recheck: c.recheck}
			agents := hands(c.agents, Evidence{SinceFailure: 100})
			p, err := Policy{AnswerError: c.risk, AssumeHostile: DefaultHostile}.ForAnswer(agents, c.shards, m)
			require.NoError(t, err)
			require.NoError(t, p.Validate())
			require.Equal(t, c.by, p.Recheck, "%+v", p)
			f, err := Plan(p, agents, c.shards, m)
			require.NoError(t, err)
			require.InDelta(t, c.perShard, f.PerShard, 0.02*c.perShard, "%+v", f)
			require.LessOrEqual(t, f.AnswerRisk, c.risk*(1+1e-9))
			require.False(t, f.Stuck)
		})
	}
	same, err := Policy{Quorum: 2}.ForAnswer(nil, 10, Means{})
	require.NoError(t, err)
	require.Equal(t, Policy{Quorum: 2}, same)
}

// TestTheCheapestWayToAnAnswer compares what ForAnswer chooses with all other ways to the same probability, with the agents at hand: the server
// executes every shard, a target error for each, and the least quorum that would do.
func TestTheCheapestWayToAnAnswer(t *testing.T) {
	ways := map[string]int{}
	for _, risk := range []float64{ExactRisk, 0.01, 0.1, 0.5} {
		for _, shards := range []int64{1, 20, 400} {
			for _, agents := range []int{1, 5, 10, 100} {
				for _, since := range []int64{0, 100} {
					for _, server := range []bool{false, true} {
						m, at := Means{Recheck: server}, hands(agents, Evidence{SinceFailure: since})
						p, err := Policy{AnswerError: risk, AssumeHostile: DefaultHostile}.ForAnswer(at, shards, m)
						require.NoError(t, err)
						chosen, err := Plan(p, at, shards, m)
						require.NoError(t, err)
						require.LessOrEqual(t, chosen.AnswerRisk, risk*(1+1e-9), "%v of %d shards: %+v", risk, shards, p)
						for _, other := range waysTo(risk, shards) {
							f, err := Plan(other, at, shards, m)
							require.NoError(t, err)
							if !f.Stuck && !chosen.Stuck {
								require.LessOrEqual(t, chosen.PerShard, f.PerShard*(1+1e-9), "%v of %d shards, %d agents, server %v: %+v and not %+v", risk, shards, agents, server, p, other)
							}
						}
						ways[p.Recheck]++
					}
				}
			}
		}
	}
	require.Greater(t, ways[RecheckAll], 20)
	require.Greater(t, ways[""], 20)
}

// waysTo are policies that keep the probability of any wrong result.
func waysTo(risk float64, shards int64) []Policy {
	ways := []Policy{{Recheck: RecheckAll}, {TargetError: risk / float64(shards), AssumeHostile: DefaultHostile, AnswerError: risk}}
	for q := 1; q <= MaxQuorum; q++ {
		if QuorumError(q, DefaultHostile)*float64(shards) <= risk {
			return append(ways, Policy{Quorum: q})
		}
	}
	return ways
}

// TestQuorumError runs the decision with liars who all lie alike.
func TestQuorumError(t *testing.T) {
	require.InDelta(t, 0.1, QuorumError(1, 0.1), 1e-12)
	require.InDelta(t, 0.028, QuorumError(2, 0.1), 1e-12)
	require.InDelta(t, 0.00856, QuorumError(3, 0.1), 1e-12)
	const shards = 20_000
	dice := rand.New(rand.NewPCG(1, 2))
	for _, quorum := range []int{1, 2, 3} {
		wrong := 0
		for range shards {
			var attempts []Attempt
			for v := (Verdict{Decision: Replicate, Wanted: quorum}); v.Decision == Replicate; v = Decide(Policy{Quorum: quorum, MaxAttempts: MaxMaxAttempts}, attempts, nil, Means{}) {
				for range v.Wanted {
					a := Attempt{ID: fmt.Sprint(len(attempts)), Agent: fmt.Sprint("agent", len(attempts)), State: Reported, Status: OK, Digest: "right"}
					if dice.Float64() < 0.2 {
						a.Digest = "wrong"
					}
					attempts = append(attempts, a)
				}
			}
			if Decide(Policy{Quorum: quorum, MaxAttempts: MaxMaxAttempts}, attempts, nil, Means{}).Digest == "wrong" {
				wrong++
			}
		}
		require.InDelta(t, QuorumError(quorum, 0.2), float64(wrong)/shards, 0.01, "a quorum of %d", quorum)
	}
}

func TestAnswerErrorsThatAreRefused(t *testing.T) {
	for _, risk := range []float64{ExactRisk, MaxTargetError} {
		require.NoError(t, Policy{AnswerError: risk, Recheck: RecheckAll}.Validate())
	}
	for _, risk := range []float64{ExactRisk / 2, -1, 0.51} {
		require.ErrorContains(t, Policy{AnswerError: risk, Recheck: RecheckAll}.Validate(), "answer_error")
	}
	require.ErrorContains(t, Policy{AnswerError: 0.1, Quorum: 2}.Validate(), "says how")
	require.NoError(t, Policy{AnswerError: ExactRisk, TargetError: minShareOfAnswer}.Validate())
	require.Error(t, Policy{AnswerError: ExactRisk, TargetError: minShareOfAnswer / 2}.Validate())
	require.Error(t, Policy{TargetError: MinTargetError / 2}.Validate(), fmt.Sprint(MinTargetError))
}
