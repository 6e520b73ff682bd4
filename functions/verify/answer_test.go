package verify

import (
	"fmt"
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
