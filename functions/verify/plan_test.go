package verify

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func hands(n int, e Evidence) []Hand {
	list := make([]Hand, n)
	for i := range list {
		list[i] = Hand{Agent: fmt.Sprint("agent", i), Evidence: e}
	}
	return list
}

func TestPlan(t *testing.T) {
	proven := Evidence{SinceFailure: 100}
	target := Policy{TargetError: 1e-3}
	for _, tc := range []struct {
		name     string
		policy   Policy
		hands    []Hand
		shards   int64
		recheck  bool
		perShard float64
		bound    float64
		stuck    bool
	}{
		{"a large job", target, hands(10, proven), 1_000_000, true, 1.027, 1e-3, false},
		{"a large job without rechecks: four owners settle an audit", target, hands(10, proven), 1_000_000, false, 1.087, 1e-3, false},
		{"fresh agents", target, hands(10, Evidence{}), 100_000, true, 1.03, 1e-3, false},
		{"a small job is rechecked", target, hands(10, Evidence{}), 10, true, 2, 1e-3, false},
		{"a small job without rechecks is replicated", target, hands(10, Evidence{}), 10, false, 4, 1e-3, false},
		{"a middling job", target, hands(10, Evidence{}), 1000, true, 1.39, 1e-3, false},
		{"a middling job of many newcomers", target, hands(100, Evidence{}), 50_000, true, 1.106, 1e-3, false},
		{"and of many with a record", target, hands(100, proven), 50_000, true, 1.026, 1e-3, false},
		{"a small job of many with a record", target, hands(100, proven), 1000, true, 1.41, 1e-3, false},
		{"of ten with a record: each by itself takes fewer", target, hands(10, proven), 1000, true, 1.35, 1e-3, false},
		{"eight owners and no server", target, hands(8, Evidence{}), 1_600, false, 1.84, 1e-3, false},
		{"three owners and no server never end", target, hands(3, proven), 100_000, false, 1.197, 1e-3, true},
		{"too few owners for replicas", target, hands(3, Evidence{}), 3, false, 4, 1e-3, true},
		{"nobody", target, nil, 10, true, 1, 1e-3, true},
		{"a bound looser than the share of liars needs no audit", Policy{TargetError: 0.2}, hands(10, proven), 1_000, true, 1, 0.2, false},
		{"quorum", Policy{Quorum: 2}, hands(10, proven), 1000, true, 2, 0.028, false},
		{"quorum, too few", Policy{Quorum: 3}, hands(2, proven), 1000, false, 3, 0.00856, true},
		{"quorum, too few, and a server", Policy{Quorum: 3}, hands(2, proven), 1000, true, 3, 0.00856, false},
		{"quorum, nobody, and a server", Policy{Quorum: 2}, nil, 1000, true, 2, 0.028, true},
		{"none", Policy{None: true}, hands(2, proven), 1000, false, 1, 0.1, false},
		{"recheck", Policy{Recheck: RecheckAll}, hands(2, proven), 1000, true, 2, 0, false},
		{"recheck without a server", Policy{Recheck: RecheckAll}, hands(2, proven), 1000, false, 2, 0, true},
		{"caught agents do not count", Policy{Quorum: 2}, append(hands(1, proven), Hand{Agent: "x", Evidence: Evidence{Caught: true}}), 10, false, 2, 0.028, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f, err := Plan(tc.policy, tc.hands, tc.shards, Means{Recheck: tc.recheck})
			require.NoError(t, err)
			require.InDelta(t, tc.perShard, f.PerShard, 0.005*tc.perShard, "%+v", f)
			require.InDelta(t, tc.bound, f.ErrorBound, 1e-9)
			require.Equal(t, tc.stuck, f.Stuck, "%+v", f)
			require.GreaterOrEqual(t, f.Worst, f.PerShard)
			require.NotEmpty(t, f.Notes)
			if !tc.recheck && tc.policy.Recheck == "" {
				require.Zero(t, f.Rechecks)
			}
		})
	}
	_, err := Plan(Policy{}, nil, 1, Means{})
	require.ErrorContains(t, err, "planning")
}
