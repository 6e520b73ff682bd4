package main

import (
	"encoding/json"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/client"
)

func TestHowAWrongShardIsShown(t *testing.T) {
	agent, job := uuid.MustParse("01a1fe3b-6802-78bf-aa3a-e26a4f42cf10"), uuid.MustParse("01a1fe3b-6802-78bf-aa3a-e26a4f42cf11")
	found := client.WrongShard{
		Step: "search", Shard: 17, From: "170", To: "180", Job: &job, Was: json.RawMessage(`{"n":13}`), Instead: json.RawMessage(`{"n":10}`),
		Agents: []client.Hand{{Agent: agent, Owner: "ada"}}, Jobs: 7,
	}
	s := client.RunStep{Bisection: &client.Bisection{Step: "search", From: "0", To: "400", Jobs: 1, Found: []client.WrongShard{found, {Step: "count", Shard: 0, From: "0", To: "5", Jobs: 2}}}}
	require.Equal(t, [][2]string{
		{"searches", "for a wrong shard of search: the sides differ over [0, 400); 1 job so far"},
		{"wrong", `shard 17 of search, [170, 180) in job ` + job.String() + `: was {"n":13}, is {"n":10}; given by agent ` + agent.String() + ` of ada; found with 7 jobs`},
		{"wrong", "shard 0 of count, [0, 5); given by no agent; found with 2 jobs"},
	}, bisectionFields(s))
	require.Empty(t, bisectionFields(client.RunStep{}))
}
