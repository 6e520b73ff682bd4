package engine_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/dispatch"
	"github.com/ostraka/ostraka/functions/flag"
	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/functions/jobs"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/result"
	"github.com/ostraka/ostraka/functions/review"
	"github.com/ostraka/ostraka/testenv"
)

func TestQuorumOutvotesALiar(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.work()
	cheat := w.agent(liar)
	job := w.submit(1500)
	done := w.swarm(job.ID, 64, w.agent(honest), w.agent(honest), w.agent(honest), cheat)
	require.Equal(t, functions.JobFinished, done.State, "%+v", done)
	require.Equal(t, functions.ShardCounts{Total: 1500, Accepted: 1500}, done.Shards)
	requireTruth(t, done, truth(rangeOf(1500)))
	require.NotNil(t, done.StartedAt)
	require.NotNil(t, done.FinishedAt)
	w.check(job.ID)

	agents, err := w.ListProjectAgents(t.Context(), w.project, functions.ListPage{Limit: 10})
	require.NoError(t, err)
	require.Len(t, agents, 4)
	for _, a := range agents {
		require.Equal(t, a.ID == cheat.id, a.CaughtAt != nil, "%+v", a)
		require.Equal(t, a.ID == cheat.id, a.Failed > 0, "%+v", a)
		require.NotEmpty(t, a.Name)
	}
	require.Len(t, w.events(job.ID, base.EventAgentCaught), 1)
	require.Equal(t, int64(1), w.count("select count(*) from audit where action = 'agent.catch' and subject = $1", cheat.id.String()))
	require.Len(t, w.flags(job.ID, flag.FlagCaught), 1)

	next := w.submit(10)
	testenv.Eventually(t, func() bool { return w.job(next.ID).State == functions.JobRunning }, "the next job is split")
	require.Nil(t, cheat.lease(10), "a liar is lent nothing any more")
	results := 0
	for line, err := range w.Results(t.Context(), w.project, job.ID, jobs.ResultQuery{After: 1400}) {
		require.NoError(t, err)
		require.Equal(t, honest(string(rangeOf(1500).Range.Input(line.Shard))).Output, string(line.Output))
		require.NotEqual(t, cheat.id, line.Agent)
		results++
	}
	require.Equal(t, 99, results)
}

func (w *world) flags(job uuid.UUID, kind string) (list []review.Flag) {
	w.t.Helper()
	all, err := w.ListFlags(w.t.Context(), w.project, review.FlagFilter{Job: &job, State: review.FlagOpen}, functions.ListPage{Limit: functions.MaxListLimit})
	require.NoError(w.t, err)
	for _, f := range all {
		if f.Kind == kind {
			list = append(list, f)
		}
	}
	return list
}

// TestACaughtAgentLosesItsLeasesAndItsVotes goes through it step by step.
func TestACaughtAgentLosesItsLeasesAndItsVotes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b, cheat := w.agent(honest), w.agent(honest), w.agent(liar)
	job := w.submit(6)
	w.settleAll()
	require.Equal(t, 4, cheat.do(4), "shards 0 to 3, with lies")
	held := cheat.lease(2)
	require.Len(t, held.Shards, 2)
	w.settleAll()
	w.check(job.ID)
	require.Equal(t, 2, a.do(2), "shards 0 and 1 are contested now")
	w.settleAll()
	require.Equal(t, 2, b.do(2), "the cheat is out-voted on both")
	w.settleAll()
	w.check(job.ID)

	_, err := cheat.post(held.ID, cheat.results(held.Shards)...)
	require.ErrorIs(t, err, functions.ErrLeaseRevoked)
	directives, err := w.Heartbeat(t.Context(), cheat.id, fleet.Heartbeat{Leases: []uuid.UUID{held.ID}})
	require.NoError(t, err)
	require.Equal(t, []uuid.UUID{held.ID}, directives.EndedLeases)
	require.Nil(t, cheat.lease(1))
	// On shards 2 and 3 the cheat has voted before it was caught. One honest voice must not be enough there.
	require.Equal(t, 4, a.do(10))
	w.settleAll()
	require.Equal(t, int64(4), w.job(job.ID).Shards.Open)
	require.Equal(t, 4, b.do(10))
	w.settleAll()
	done := w.job(job.ID)
	require.Equal(t, functions.JobFinished, done.State)
	requireTruth(t, done, truth(rangeOf(6)))
	w.check(job.ID)
}

func TestOneResultIsEnoughWhereThePolicySaysSo(t *testing.T) {
	t.Parallel()
	for name, policy := range map[string]func(*functions.NewJob){
		"quorum 1": func(j *functions.NewJob) { j.Quorum = 1 },
		"none":     func(j *functions.NewJob) { j.Quorum, j.None = 0, true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			job := w.submit(1025, policy)
			w.settleAll()
			a := w.agent(honest)
			require.Equal(t, 1024, a.do(dispatch.MaxLeaseShards))
			require.Equal(t, 1, a.do(dispatch.MaxLeaseShards))
			w.settleAll()
			done := w.job(job.ID)
			require.Equal(t, functions.JobFinished, done.State)
			require.Equal(t, int64(1025), done.Attempts)
			requireTruth(t, done, truth(rangeOf(1025)))
			w.check(job.ID)
		})
	}
}

func TestItemsComeVerbatim(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	values := []json.RawMessage{
		json.RawMessage(`123456789012345678901234567890`), json.RawMessage(`{"a":[1,2.50],"b":"ü<&>"}`), json.RawMessage(`null`), json.RawMessage(`-0.0`),
	}
	lines := "123456789012345678901234567890\r\n\n" + `{"a":[1,2.50],"b":"ü<&>"}` + "\n  null \n-0.0"
	object, err := w.PutObject(t.Context(), w.project, "", strings.NewReader(lines))
	require.NoError(t, err)
	for name, change := range map[string]func(*functions.NewJob){
		"values": func(j *functions.NewJob) { j.Partition = partition.OfValues(values) },
		"lines": func(j *functions.NewJob) {
			j.Partition, j.Items = partition.Spec{Kind: partition.KindItems}, []byte(lines)
		},
		"object": func(j *functions.NewJob) { j.Partition = partition.OfObject(object.Digest) },
	} {
		a := w.agent(echoString)
		job := w.submit(0, change, func(j *functions.NewJob) { j.Quorum, j.Aggregator = 1, "concat" })
		require.Equal(t, int64(4), job.Shards.Total, name)
		w.settleAll()
		lease := a.lease(10)
		require.Equal(t, job.ID, lease.Job)
		var inputs []string
		for _, s := range lease.Shards {
			inputs = append(inputs, s.Input)
		}
		require.Equal(t, []string{string(values[0]), string(values[1]), "null", "-0.0"}, inputs, name)
		list, err := w.ListShards(t.Context(), w.project, job.ID, functions.ShardOpen, functions.ListPage{After: "0", Limit: 2})
		require.NoError(t, err)
		require.Len(t, list, 2)
		require.Equal(t, string(values[1]), string(list[0].Input))
		a.report(lease)
		w.settleAll()
		done := w.job(job.ID)
		require.Equal(t, functions.JobFinished, done.State)
		require.Equal(t, int64(4), done.Aggregate.Count)
		require.Contains(t, string(done.Aggregate.Value), `"123456789012345678901234567890"`)
	}
}

// echoString answers with its input as a JSON string.
func echoString(input string) functions.Result {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(input)
	return ok(strings.TrimSpace(text.String()))
}

func TestLargeOutputsAndAnswersAreObjects(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	large := `"` + strings.Repeat("x", result.MaxInlineOutput) + `"`
	a := w.agent(saysByObject(large))
	job := w.submit(2, func(j *functions.NewJob) { j.Quorum, j.Aggregator = 1, "concat" })
	w.settleAll()
	lease := a.lease(10)
	results := a.results(lease.Shards)
	_, err := a.post(lease.ID, results...)
	requireCode(t, err, "bad_result")
	o, err := w.PutOutput(t.Context(), a.id, lease.ID, results[0].OutputDigest, strings.NewReader(large))
	require.NoError(t, err)
	require.Equal(t, int64(len(large)), o.Size)
	a.report(lease)
	w.settleAll()
	done := w.job(job.ID)
	require.Equal(t, functions.JobFinished, done.State, done.Error)
	require.Equal(t, "null", string(done.Aggregate.Value))
	value, err := w.blobs.Get(context.Background(), w.project, done.Aggregate.Object, 1<<20)
	require.NoError(t, err)
	require.Equal(t, 2, strings.Count(string(value), large))
	require.Equal(t, int64(2), done.Aggregate.Count)
	shard, err := w.GetShard(t.Context(), w.project, job.ID, 1)
	require.NoError(t, err)
	require.Nil(t, shard.Attempts[0].Output)
	require.Equal(t, int64(len(large)), shard.Attempts[0].OutputBytes)
	require.True(t, shard.Attempts[0].Accepted)
}

func TestNothingIsFoldedWhereNothingWasAskedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.submit(3, func(j *functions.NewJob) { j.Quorum, j.Aggregator = 1, functions.NoAggregator })
	w.settleAll()
	w.agent(honest).do(3)
	w.settleAll()
	done := w.job(job.ID)
	require.Equal(t, functions.JobFinished, done.State)
	require.Nil(t, done.Aggregate)
}
