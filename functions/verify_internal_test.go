package functions

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions/verify"
)

func TestJudgeLate(t *testing.T) {
	t.Parallel()
	late, first, second := uuid.New(), uuid.New(), uuid.New()
	right, wrong := []byte{1}, []byte{2}
	attempt := func(agent uuid.UUID, outcome []byte) attemptRow {
		return attemptRow{Shard: 7, AgentID: agent, Status: verify.OK, Outcome: outcome}
	}
	for name, c := range map[string]struct {
		state    ShardState
		attempts []attemptRow
		caught   []uuid.UUID
		delta    verify.Delta
		flagged  bool
	}{
		"agrees with two":             {ShardAccepted, []attemptRow{attempt(first, right), attempt(second, right), attempt(late, right)}, nil, verify.Delta{Passed: 1}, false},
		"contradicts two":             {ShardAccepted, []attemptRow{attempt(first, right), attempt(second, right), attempt(late, wrong)}, nil, verify.Delta{Failed: 1}, true},
		"contradicts one":             {ShardAccepted, []attemptRow{attempt(first, right), attempt(late, wrong)}, nil, verify.Delta{}, true},
		"contradicts two, one caught": {ShardAccepted, []attemptRow{attempt(first, right), attempt(second, right), attempt(late, wrong)}, []uuid.UUID{second}, verify.Delta{}, true},
		"of a shard that failed":      {ShardFailed, []attemptRow{attempt(first, right), attempt(late, wrong)}, nil, verify.Delta{}, false},
		"of a shard in review":        {ShardReview, []attemptRow{attempt(first, right), attempt(late, wrong)}, nil, verify.Delta{}, false},
	} {
		evidence := map[string]verify.Evidence{}
		for _, id := range c.caught {
			evidence[id.String()] = verify.Evidence{Caught: true}
		}
		shard := shardRow{Number: 7, State: c.state, Lent: 1}
		if c.state == ShardAccepted {
			shard.AgentID = &first
		}
		w := weighed{counts: map[uuid.UUID]*count{}}
		w.judgeLate(submissionRow{AgentID: late}, shard, bench{attempts: map[int64][]attemptRow{7: c.attempts}, evidence: evidence})
		require.Equal(t, c.delta, w.of(late).Delta, name)
		require.Equal(t, c.flagged, len(w.late) == 1, name)
		require.Equal(t, []shardChange{{number: 7, was: c.state, state: c.state, agent: shard.AgentID, agentWas: shard.AgentID}}, w.changes, "%s: the shard stays as it is", name)
		require.LessOrEqual(t, len(w.counts), 1, "%s: nobody else is judged", name)
	}
}
