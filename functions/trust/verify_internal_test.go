package trust

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/jobs"
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
		state    functions.ShardState
		attempts []attemptRow
		caught   []uuid.UUID
		delta    verify.Delta
		flagged  bool
	}{
		"agrees with two":             {functions.ShardAccepted, []attemptRow{attempt(first, right), attempt(second, right), attempt(late, right)}, nil, verify.Delta{Passed: 1}, false},
		"contradicts two":             {functions.ShardAccepted, []attemptRow{attempt(first, right), attempt(second, right), attempt(late, wrong)}, nil, verify.Delta{Failed: 1}, true},
		"contradicts one":             {functions.ShardAccepted, []attemptRow{attempt(first, right), attempt(late, wrong)}, nil, verify.Delta{}, true},
		"contradicts two, one caught": {functions.ShardAccepted, []attemptRow{attempt(first, right), attempt(second, right), attempt(late, wrong)}, []uuid.UUID{second}, verify.Delta{}, true},
		"of a shard that failed":      {functions.ShardFailed, []attemptRow{attempt(first, right), attempt(late, wrong)}, nil, verify.Delta{}, false},
		"of a shard in review":        {functions.ShardReview, []attemptRow{attempt(first, right), attempt(late, wrong)}, nil, verify.Delta{}, false},
	} {
		evidence := map[string]verify.Evidence{}
		for _, id := range c.caught {
			evidence[id.String()] = verify.Evidence{Caught: true}
		}
		shard := ShardRow{Number: 7, State: c.state, Lent: 1}
		if c.state == functions.ShardAccepted {
			shard.AgentID = &first
		}
		w := Weighed{Counts: map[uuid.UUID]*Count{}}
		w.judgeLate(SubmissionRow{AgentID: late}, shard, bench{attempts: map[int64][]attemptRow{7: c.attempts}, evidence: evidence})
		require.Equal(t, c.delta, w.Of(late).Delta, name)
		require.Equal(t, c.flagged, len(w.late) == 1, name)
		require.Equal(t, []jobs.ShardChange{{Number: 7, Was: c.state, State: c.state, Agent: shard.AgentID, AgentWas: shard.AgentID}}, w.Changes, "%s: the shard stays as it is", name)
		require.LessOrEqual(t, len(w.Counts), 1, "%s: nobody else is judged", name)
	}
}

// TestClaimsOfAShard: the server's own attempt confirms those that end alike; exceptions and what was taken back are none.
func TestClaimsOfAShard(t *testing.T) {
	one, two := uuid.New(), uuid.New()
	b := bench{attempts: map[int64][]attemptRow{
		1: {{AgentID: one, Status: verify.Timeout}, {AgentID: two, Status: verify.OK}},
		2: {{AgentID: one, Status: verify.Timeout}, {AgentID: two, Status: verify.OK}, {AgentID: functions.ServerAgent, Status: verify.Timeout}},
		3: {{AgentID: one, Status: verify.Memory}, {AgentID: two, Status: verify.OK}, {AgentID: functions.ServerAgent, Status: verify.Timeout}},
		4: {{AgentID: one, Status: verify.Error}, {AgentID: two, Status: verify.Timeout, Void: true}, {AgentID: functions.ServerAgent, Status: verify.Error}},
	}}
	require.Equal(t, []claim{{1, one, true}}, b.claims(1, true))
	require.Equal(t, []claim{{1, one, false}}, b.claims(1, false), "the shard failed")
	require.Equal(t, []claim{{2, one, false}}, b.claims(2, true), "the server ran out of time, too")
	require.Equal(t, []claim{{3, one, true}}, b.claims(3, true))
	require.Empty(t, b.claims(4, true))
}
