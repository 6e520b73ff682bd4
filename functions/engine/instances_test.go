package engine_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/dispatch"
	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/functions/stepargs"
)

// TestAnAgentThatIsStartedAgainGoesOn is what happens most: each start is another instance.
func TestAnAgentThatIsStartedAgainGoesOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.agent(honest)
	for range 3 {
		instance := uuid.New()
		require.NoError(t, w.SpeakFor(t.Context(), a.id, instance, "192.0.2.1:1"))
		require.NoError(t, w.SpeakFor(t.Context(), a.id, instance, "192.0.2.1:1"), "again")
		p, err := w.Authenticate(t.Context(), a.secret)
		require.NoError(t, err)
		require.Equal(t, instance, p.Instance)
	}
	got, err := w.GetAgent(t.Context(), a.id)
	require.NoError(t, err)
	require.Nil(t, got.Duplicate)
	requireCode(t, w.SpeakFor(t.Context(), uuid.New(), uuid.New(), ""), "not_found")
}

// TestACopiedKeyIsFound has two machines work with one key, as after copying a data directory.
func TestACopiedKeyIsFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	job := w.submit(6, func(j *functions.NewJob) { j.Quorum = 1 })
	w.settleAll()
	a := w.agent(honest)
	first, second := uuid.New(), uuid.New()
	require.NoError(t, w.SpeakFor(ctx, a.id, first, "192.0.2.1:1"))
	old := a.lease(2)
	require.NoError(t, w.SpeakFor(ctx, a.id, second, "192.0.2.2:1"), "it could be a restart")
	require.ErrorIs(t, w.SpeakFor(ctx, a.id, first, "192.0.2.1:2"), fleet.ErrInstanceLate, "its last words may come late")
	w.sql("update ostraka.agent_instances set late_at = late_at - interval '5 seconds'")
	require.ErrorIs(t, w.SpeakFor(ctx, a.id, first, "192.0.2.1:2"), fleet.ErrDuplicateInstance, "it was none")
	got, err := w.GetAgent(ctx, a.id)
	require.NoError(t, err)
	require.Equal(t, "192.0.2.1:2", got.Duplicate.Address)
	d, err := w.Heartbeat(ctx, a.id, fleet.Heartbeat{})
	require.NoError(t, err)
	require.NotNil(t, d.Duplicate, "the one that works is told")
	require.Equal(t, int64(1), w.controlCount("select count(*) from server_audit where action = 'agent.duplicate'"))

	// The other machine's supervisor starts its agent again: who is there stays.
	require.ErrorIs(t, w.SpeakFor(ctx, a.id, uuid.New(), "192.0.2.1:3"), fleet.ErrDuplicateInstance)
	require.NoError(t, w.SpeakFor(ctx, a.id, second, "192.0.2.2:1"))
	require.Equal(t, int64(1), w.controlCount("select count(*) from server_audit where action = 'agent.duplicate'"), "it is said once")
	w.sql("update ostraka.agents set last_seen_at = now() - interval '2 minutes'")
	third := uuid.New()
	require.NoError(t, w.SpeakFor(ctx, a.id, third, "192.0.2.1:4"), "when the one that works is gone, another takes its place")

	// Whichever machine posts them, results of a lease count once.
	a.report(old)
	recorded, err := a.post(old.ID, a.results(old.Shards)...)
	require.NoError(t, err)
	require.Equal(t, dispatch.Recorded{Duplicate: 2, Done: true}, recorded)
	require.Equal(t, 4, a.do(6))
	w.settleAll()
	require.Equal(t, functions.JobFinished, w.job(job.ID).State)
	requireTruth(t, w.job(job.ID), truth(rangeOf(6)))
	w.check(job.ID)

	require.NoError(t, w.Retain(ctx, stepargs.RetentionArgs{}))
	require.Equal(t, int64(3), w.controlCount("select count(*) from agent_instances"))
	w.sql("update ostraka.agent_instances set started_at = now() - interval '31 days'")
	require.NoError(t, w.Retain(ctx, stepargs.RetentionArgs{}))
	require.Equal(t, int64(1), w.controlCount("select count(*) from agent_instances"), "that which speaks now is kept")
}

// TestWhatADeadProcessSentAccusesNobody has a server stand still while an agent is killed and started again: then it works off what the
// dead process had sent on several connections.
func TestWhatADeadProcessSentAccusesNobody(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	a := w.agent(honest)
	dead, alive := uuid.New(), uuid.New()
	require.NoError(t, w.SpeakFor(ctx, a.id, dead, "192.0.2.1:1"))
	require.NoError(t, w.SpeakFor(ctx, a.id, alive, "192.0.2.1:2"))
	for range 3 {
		require.ErrorIs(t, w.SpeakFor(ctx, a.id, dead, "192.0.2.1:1"), fleet.ErrInstanceLate)
	}
	require.NoError(t, w.SpeakFor(ctx, a.id, alive, "192.0.2.1:2"))
	got, err := w.GetAgent(ctx, a.id)
	require.NoError(t, err)
	require.Nil(t, got.Duplicate)
	require.Zero(t, w.controlCount("select count(*) from server_audit where action = 'agent.duplicate'"))
	require.NoError(t, w.SpeakFor(ctx, a.id, uuid.New(), "192.0.2.1:3"), "and when it is started once more, it goes on at once")
}
