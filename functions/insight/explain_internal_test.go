package insight

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/functions/verify"
)

func TestExplainOpen(t *testing.T) {
	t.Parallel()
	fit := agentsForJob{Active: 3, Seen: 3, Isolated: 3, Isolation: "process"}
	job := func(state functions.JobState, c functions.ShardCounts) functions.Job {
		return functions.Job{State: state, Policy: verify.Policy{Quorum: 2}, Shards: c}
	}
	open := job(functions.JobRunning, functions.ShardCounts{Total: 10, Open: 4, Accepted: 6})
	for name, c := range map[string]struct {
		job    functions.Job
		agents agentsForJob
		leases leasesForJob
		codes  []string
		says   string
		tried  int64
	}{
		"splitting":   {job(functions.JobSplitting, functions.ShardCounts{Total: 10, Open: 10}), fit, leasesForJob{}, []string{"splitting"}, "0 of 10 shards are settled.", 0},
		"running":     {open, fit, leasesForJob{Lent: 4}, []string{"running"}, "4 attempts are out", 0},
		"waiting":     {open, fit, leasesForJob{Wanted: 4}, []string{"waiting"}, "3 agents can be used", 0},
		"tried":       {open, fit, leasesForJob{Wanted: 4}, []string{"tried_by_all"}, "every agent that can be used (3) has tried", 2},
		"both":        {open, fit, leasesForJob{Wanted: 1, Lent: 3}, []string{"running", "waiting"}, "", 0},
		"no agents":   {open, agentsForJob{Isolation: "process"}, leasesForJob{Wanted: 4}, []string{"no_agents"}, "the project has no agent", 0},
		"removed":     {open, agentsForJob{Removed: 4, Isolation: "process"}, leasesForJob{Wanted: 4}, []string{"no_agents"}, "the project has no agent: 4 agents were removed from it", 0},
		"silent":      {open, agentsForJob{Active: 3, Isolation: "process"}, leasesForJob{Wanted: 4}, []string{"agents_silent"}, "none of the project's agents (3)", 0},
		"isolation":   {open, agentsForJob{Active: 3, Seen: 3, Isolation: "gvisor"}, leasesForJob{Wanted: 4}, []string{"isolation"}, `"gvisor"`, 0},
		"too few":     {open, agentsForJob{Active: 3, Seen: 3, Isolated: 3, Caught: 2, Isolation: "process"}, leasesForJob{Wanted: 4}, []string{"too_few_agents", "caught"}, "1 can be used (2 were caught, 0 refuse the function)", 0},
		"refused":     {open, agentsForJob{Active: 3, Seen: 3, Isolated: 3, Caught: 2, Refused: 1}, leasesForJob{Wanted: 4}, []string{"refused_by_all", "caught", "refused"}, "(caps): it wants too much", 0},
		"one refuses": {open, agentsForJob{Active: 3, Seen: 3, Isolated: 3, Refused: 1}, leasesForJob{Wanted: 4}, []string{"waiting", "refused"}, "2 agents can be used", 0},
		"review":      {job(functions.JobReview, functions.ShardCounts{Total: 10, Accepted: 9, Review: 1}), fit, leasesForJob{}, []string{"review"}, "1 shard waits for a person", 0},
		"aggregating": {job(functions.JobAggregating, functions.ShardCounts{Total: 10, Accepted: 10}), fit, leasesForJob{}, []string{"aggregating"}, "", 0},
		"settling":    {job(functions.JobRunning, functions.ShardCounts{Total: 10, Accepted: 10}), fit, leasesForJob{}, []string{"settling"}, "10 of 10 shards are settled.", 0},
	} {
		e := explainOpen(c.job, c.agents, c.leases, c.tried, []fleet.AgentRefusal{{Code: "caps", Reason: "it wants too much"}})
		text := e.Summary
		codes := []string{}
		for _, r := range e.Reasons {
			codes = append(codes, r.Code)
			text += " " + r.Text
		}
		require.Equal(t, c.codes, codes, name)
		require.Contains(t, text, c.says, name)
		require.Equal(t, c.job.State, e.State)
	}
	none := open
	none.Policy = verify.Policy{None: true}
	e := explainOpen(none, agentsForJob{Active: 1, Seen: 1, Isolated: 1}, leasesForJob{Wanted: 1}, 0, nil)
	require.Equal(t, "waiting", e.Reasons[0].Code, "one agent is enough without verification")
}

func TestExplainOwners(t *testing.T) {
	t.Parallel()
	bound, all := verify.Policy{TargetError: 1e-3}, verify.Policy{Recheck: verify.RecheckAll}
	alone := []verify.Hand{{Agent: "a", Owner: "o"}, {Agent: "b", Owner: "o"}}
	for name, c := range map[string]struct {
		policy verify.Policy
		hands  []verify.Hand
		server bool
		said   string // a reason that stands there already
		code   string
		says   string
	}{
		"one owner and a server":    {bound, alone, true, "", "", ""},
		"one owner and no server":   {bound, alone, false, "", ReasonTooFewOwners, "agents of 4 independent owners, and the project has 1 owner of agents: 3 more are missing."},
		"nobody":                    {bound, nil, true, "", ReasonTooFewOwners, "agents of 1 owner, and the project has 0 owners of agents: 1 more is missing."},
		"nobody, which is said":     {bound, nil, true, "no_agents", "", ""},
		"quorum within one owner":   {verify.Policy{Quorum: 2}, alone, false, "", ReasonTooFewOwners, "agents of 2 independent owners"},
		"and a server":              {verify.Policy{Quorum: 2}, alone, true, "", "", ""},
		"server asked for, is none": {all, alone, false, "", ReasonRecheckNobody, "no server executes shards"},
		"which is said":             {all, alone, false, ReasonRecheckNobody, "", ""},
		"no verification":           {verify.Policy{None: true}, alone, false, "", "", ""},
	} {
		f, err := verify.Plan(c.policy, c.hands, 10, verify.Means{Recheck: c.server})
		require.NoError(t, err)
		var e functions.Explanation
		if c.said != "" {
			e.Reasons = []functions.Reason{{Code: c.said}}
		}
		before := len(e.Reasons)
		explainOwners(&e, c.policy, f, false)
		if c.code == "" {
			require.Len(t, e.Reasons, before, name)
			continue
		}
		require.Len(t, e.Reasons, before+1, name)
		require.Equal(t, c.code, e.Reasons[before].Code, name)
		require.Contains(t, e.Reasons[before].Text, c.says, name)
		require.NotEmpty(t, e.Reasons[before].Hint, name)
	}
}

func TestExplainEnded(t *testing.T) {
	t.Parallel()
	e := explainEnded(functions.Job{State: functions.JobFinished, Shards: functions.ShardCounts{Total: 3, Accepted: 3}})
	require.Equal(t, "The job is done: 3 of 3 shards were accepted.", e.Summary)
	require.NotNil(t, e.Reasons, "an empty list, not null")
	e = explainEnded(functions.Job{State: functions.JobFailed, Error: "why"})
	require.Equal(t, "why", e.Reasons[0].Text)
	require.Contains(t, e.Reasons[0].Hint, "ostraka job shards")
	e = explainEnded(functions.Job{State: functions.JobCancelled, Error: "cancelled by me"})
	require.Equal(t, "cancelled by me", e.Reasons[0].Text)
}

// TestTooFewOwnersOfAJobWithVolumes: a server that executes shards may be there, and lacks the folders alone.
func TestTooFewOwnersOfAJobWithVolumes(t *testing.T) {
	t.Parallel()
	policy := verify.Policy{TargetError: 1e-3}
	f, err := verify.Plan(policy, []verify.Hand{{Agent: "a", Owner: "o"}}, 10, verify.Means{})
	require.NoError(t, err)
	var e functions.Explanation
	explainOwners(&e, policy, f, true)
	require.Len(t, e.Reasons, 1)
	require.Equal(t, ReasonTooFewOwners, e.Reasons[0].Code)
	require.Contains(t, e.Reasons[0].Hint, "--recheck-volume NAME=FOLDER")
	require.NotContains(t, e.Reasons[0].Hint, functions.StartRechecker)
}
