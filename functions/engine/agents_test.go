package engine_test

import (
	"context"
	"crypto/ed25519"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/engine"
	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/tenant"
	"github.com/ostraka/ostraka/runtime/eula"
	"github.com/ostraka/ostraka/testenv"
)

func (w *world) decide(a *agent, action fleet.AgentAction) fleet.Agent {
	w.t.Helper()
	got, err := w.DecideAgent(w.t.Context(), w.server, a.id, action, "because")
	require.NoError(w.t, err)
	return got
}

func TestNoWorkWithoutTheAgreement(t *testing.T) {
	t.Parallel()
	next, err := eula.Parse([]byte("Version: next\n"))
	require.NoError(t, err)
	w := newWorld(t)
	ctx := t.Context()
	a := w.agent(honest)
	stranger := w.agent(honest)

	// Who has not agreed does not get in.
	none := enrolment(a.key, "again")
	none.EULA = nil
	_, _, err = w.Enrol(ctx, w.token, none, prove(a.key, w.token), "")
	require.ErrorIs(t, err, functions.ErrEULARequired)
	none.EULA = accept(a.key, next)
	_, _, err = w.Enrol(ctx, w.token, none, prove(a.key, w.token), "")
	require.ErrorIs(t, err, fleet.ErrEULAMismatch)
	none.EULA = accept(stranger.key, eula.Embedded())
	_, _, err = w.Enrol(ctx, w.token, none, prove(a.key, w.token), "")
	require.ErrorIs(t, err, functions.ErrBadSignature)

	// A new version pauses those who are in.
	job := w.submit(4, func(j *functions.NewJob) { j.Quorum = 1 })
	w.settleAll()
	before := a.lease(1)
	w.options.EULA = next
	w.Service = engine.New(w.options)
	require.Equal(t, "next", w.EULA().Version)
	_, err = a.Lease(ctx, 1, 0)
	require.ErrorIs(t, err, functions.ErrEULARequired)
	d, err := w.Heartbeat(ctx, a.id, fleet.Heartbeat{Leases: []uuid.UUID{before.ID}})
	require.NoError(t, err)
	require.Empty(t, d.EndedLeases, "what was begun may be finished")
	require.Equal(t, &fleet.EULAReference{Version: "next", Digest: next.Digest}, d.EULA)
	a.report(before)
	require.ErrorIs(t, w.AcceptEULA(ctx, a.id, *accept(a.key, eula.Embedded()), ""), fleet.ErrEULAMismatch)
	require.ErrorIs(t, w.AcceptEULA(ctx, a.id, *accept(stranger.key, next), ""), functions.ErrBadSignature)
	hour := accept(a.key, next)
	require.NoError(t, w.AcceptEULA(ctx, a.id, *hour, "192.0.2.1:5"))
	require.NoError(t, w.AcceptEULA(ctx, a.id, *hour, "192.0.2.1:5"), "again")
	d, err = w.Heartbeat(ctx, a.id, fleet.Heartbeat{})
	require.NoError(t, err)
	require.Nil(t, d.EULA)
	require.Equal(t, 3, a.do(5))
	require.Equal(t, int64(2), w.controlCount("select count(*) from eula_acceptances where agent_id = $1", a.id))
	require.Equal(t, int64(1), w.controlCount("select count(*) from eula_acceptances where agent_id = $1 and version = 'next' and address = '192.0.2.1:5'", a.id))
	w.settleAll()
	require.Equal(t, functions.JobFinished, w.job(job.ID).State)
}

func TestAgentsWaitForApproval(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	w.submit(9, func(j *functions.NewJob) { j.Quorum = 1 })
	w.settleAll()
	byOwner, byOperator, byToken := w.enrol("", "one", honest), w.enrol("", "two", honest), w.enrol("", "three", honest)
	for _, a := range []*agent{byOwner, byOperator, byToken} {
		_, err := a.Lease(ctx, 1, 0)
		require.ErrorIs(t, err, functions.ErrNotEnrolled)
		require.ErrorContains(t, err, "pending")
	}
	pending, err := w.ListAgents(ctx, fleet.AgentPending, functions.ListPage{Limit: 10})
	require.NoError(t, err)
	require.Len(t, pending, 3)

	admitted, err := w.AdmitAgent(ctx, w.by, w.project, byOwner.id, "the lab", "known")
	require.NoError(t, err)
	require.Equal(t, fleet.AgentActive, admitted.State)
	require.Equal(t, "the lab", admitted.Owner)
	require.Equal(t, 1, byOwner.do(1))

	w.decide(byOperator, fleet.ApproveAgent)
	require.Nil(t, byOperator.lease(1), "it is approved, and no project wants it")
	_, err = w.UpdateProject(ctx, w.by, w.project, tenant.ProjectChange{AgentsOpen: new(true)}, 1)
	require.NoError(t, err)
	require.Equal(t, 1, byOperator.do(1), "the project is open to all who are approved")
	_, err = byToken.Lease(ctx, 1, 0)
	require.ErrorIs(t, err, functions.ErrNotEnrolled, "it is not approved")

	_, _, err = w.join(byToken.key, w.token, "three", "")
	require.NoError(t, err)
	require.Equal(t, 1, byToken.do(1))
	seen, err := w.GetProjectAgent(ctx, w.project, byToken.id)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(seen.Owner, "token:"), "the token stands for its owner: %q", seen.Owner)
	owned, err := w.AssignOwner(ctx, w.server, byToken.id, "somebody")
	require.NoError(t, err)
	require.Equal(t, "somebody", owned.Owner)
}

func TestTheQueueForApprovalHasAnEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.enrol("", "waits", honest)
	w.sql("insert into ostraka.agents (id, public_key, name, state, isolation, platform) select gen_random_uuid(), decode(lpad(to_hex(n), 64, '0'), 'hex'), 'x', 'pending', 'process', '{}' from generate_series(1, $1) n", fleet.MaxPendingAgents-2)
	last := w.enrol("", "the last one", honest)
	_, key, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	_, _, err = w.join(key, "", "one too many", "")
	requireCode(t, err, "too_many_pending")
	_, _, err = w.join(key, w.token, "with a token", "")
	require.NoError(t, err)
	_, _, err = w.join(a.key, "", "known", "")
	require.NoError(t, err, "one that waits already may come again")
	w.sql("update ostraka.agents set created_at = now() - interval '8 days', last_seen_at = null where state = 'pending' and id <> $1", last.id)
	require.NoError(t, w.Retain(t.Context(), stepargs.RetentionArgs{}))
	require.Equal(t, int64(1), w.controlCount("select count(*) from agents where state = 'pending'"), "nobody waits for ever")

	w.options.TokensOnly = true
	w.Service = engine.New(w.options)
	_, key, err = ed25519.GenerateKey(nil)
	require.NoError(t, err)
	_, _, err = w.join(key, "", "no token", "")
	requireCode(t, err, "token_required")
}

func TestStatesOfAnAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	job := w.submit(9, func(j *functions.NewJob) { j.Quorum = 1 })
	w.settleAll()
	a := w.agent(honest)
	lease := a.lease(2)
	require.Equal(t, fleet.AgentDraining, w.decide(a, fleet.DrainAgent).State)
	_, err := a.Lease(ctx, 1, 0)
	require.ErrorIs(t, err, functions.ErrNotEnrolled)
	require.ErrorContains(t, err, "because", "the reason is told")
	_, _, err = w.LeaseBundle(ctx, a.id, lease.ID)
	require.NoError(t, err)
	a.report(lease) // what it has it may finish
	require.Equal(t, fleet.AgentActive, w.decide(a, fleet.ResumeAgent).State)
	lease = a.lease(2)
	_, err = a.post(lease.ID, a.results(lease.Shards[:1])...)
	require.NoError(t, err)
	require.Equal(t, fleet.AgentQuarantined, w.decide(a, fleet.QuarantineAgent).State)
	_, err = a.post(lease.ID, a.results(lease.Shards[1:])...)
	require.ErrorIs(t, err, functions.ErrLeaseRevoked, "at once, and not when the step has run")
	w.settleAll()
	require.Equal(t, int64(3), w.job(job.ID).Shards.Accepted, "what it had posted before is weighed like everybody's")
	w.check(job.ID)
	_, err = w.DecideAgent(ctx, w.server, a.id, fleet.DrainAgent, "")
	requireCode(t, err, "agent_state")
	w.decide(a, fleet.ResumeAgent)
	require.Equal(t, 6, a.do(9)+a.do(9), "after those that nobody had yet, those that came back")
	w.decide(a, fleet.RevokeAgent)
	w.decide(a, fleet.RevokeAgent)
	for _, action := range []fleet.AgentAction{fleet.ApproveAgent, fleet.DrainAgent, fleet.ResumeAgent, fleet.QuarantineAgent} {
		_, err = w.DecideAgent(ctx, w.server, a.id, action, "")
		requireCode(t, err, "agent_state")
	}
	_, err = w.AdmitAgent(ctx, w.by, w.project, a.id, "", "")
	requireCode(t, err, "agent_state")
	_, err = w.DecideAgent(ctx, w.server, a.id, fleet.RevokeAgent, strings.Repeat("x", fleet.MaxReason+1))
	requireCode(t, err, "bad_reason")
	w.settleAll()
	require.Equal(t, functions.JobFinished, w.job(job.ID).State)
	requireTruth(t, w.job(job.ID), truth(rangeOf(9)))
}

// TestARevokedKeyIsRefusedEverywhere tries all that an agent can ask for.
func TestARevokedKeyIsRefusedEverywhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	w.submit(3)
	w.settleAll()
	a := w.agent(honest)
	lease := a.lease(1)
	w.decide(a, fleet.RevokeAgent)
	_, err := w.Authenticate(ctx, a.secret)
	require.ErrorIs(t, err, functions.ErrAgentRevoked, "no request gets past this, heartbeats included")
	_, err = a.Lease(ctx, 1, 0)
	require.ErrorIs(t, err, functions.ErrAgentRevoked)
	_, err = a.post(lease.ID, a.results(lease.Shards)...)
	require.ErrorIs(t, err, functions.ErrAgentRevoked)
	_, _, err = w.LeaseBundle(ctx, a.id, lease.ID)
	require.ErrorIs(t, err, functions.ErrAgentRevoked)
	_, err = w.PutOutput(ctx, a.id, lease.ID, strings.Repeat("0", 64), strings.NewReader("1"))
	require.ErrorIs(t, err, functions.ErrAgentRevoked)
	require.ErrorIs(t, w.ReturnLease(ctx, a.id, lease.ID), functions.ErrAgentRevoked)
	_, _, err = w.join(a.key, "", "back", "")
	require.ErrorIs(t, err, functions.ErrAgentRevoked)
}

func TestProjectsChooseAgentsAndAgentsProjects(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	w.submit(20, func(j *functions.NewJob) { j.Quorum = 1 })
	w.settleAll()
	a := w.agent(honest)
	lease := a.lease(2)
	out, err := w.ExcludeAgent(ctx, w.by, w.project, a.id, "too slow")
	require.NoError(t, err)
	require.True(t, out.Excluded)
	require.Equal(t, "too slow", out.ExcludedReason)
	w.settleAll()
	require.Nil(t, a.lease(1))
	_, err = a.post(lease.ID, a.results(lease.Shards)...)
	require.ErrorIs(t, err, functions.ErrLeaseRevoked)
	_, _, err = w.join(a.key, w.token, "back", "")
	require.NoError(t, err)
	require.Nil(t, a.lease(1), "a token does not bring it back")
	_, err = w.UpdateProject(ctx, w.by, w.project, tenant.ProjectChange{AgentsOpen: new(true)}, 1)
	require.NoError(t, err)
	require.Nil(t, a.lease(1), "nor does a project that is open")
	_, err = w.AdmitAgent(ctx, w.by, w.project, a.id, "", "")
	require.NoError(t, err)
	require.Equal(t, 1, a.do(1))

	wish := func(wishes fleet.AgentWishes) {
		t.Helper()
		_, err := w.Heartbeat(ctx, a.id, fleet.Heartbeat{Wishes: &wishes})
		require.NoError(t, err)
	}
	wish(fleet.AgentWishes{Projects: []uuid.UUID{uuid.New()}})
	require.Nil(t, a.lease(1), "its owner works for another project only")
	_, err = w.Heartbeat(ctx, a.id, fleet.Heartbeat{})
	require.NoError(t, err)
	require.Nil(t, a.lease(1), "what was said last goes on")
	wish(fleet.AgentWishes{Projects: []uuid.UUID{w.project}})
	require.Equal(t, 1, a.do(1))
	wish(fleet.AgentWishes{})
	require.Equal(t, 1, a.do(1))

	// The strictest of function, project and the agent's owner decides about isolation.
	wish(fleet.AgentWishes{MinIsolation: "linux"})
	require.Nil(t, a.lease(1))
	wish(fleet.AgentWishes{MinIsolation: "linux", Isolation: "linux"})
	require.Equal(t, 1, a.do(1))
	_, err = w.UpdateProject(ctx, w.by, w.project, tenant.ProjectChange{MinIsolation: new("container")}, 2)
	require.NoError(t, err)
	require.Nil(t, a.lease(1))
	wish(fleet.AgentWishes{Isolation: "gvisor"})
	require.Equal(t, 1, a.do(1))
	_, err = w.UpdateProject(ctx, w.by, w.project, tenant.ProjectChange{MinIsolation: new("magic")}, 3)
	requireCode(t, err, "bad_isolation")
}

// TestDecisionsEndOpenPolls has a poll wait, and decides.
func TestDecisionsEndOpenPolls(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.work()
	for _, action := range []fleet.AgentAction{fleet.DrainAgent, fleet.QuarantineAgent, fleet.RevokeAgent} {
		a := w.agent(honest)
		refused := make(chan error, 1)
		go func() {
			_, err := a.Lease(context.WithoutCancel(t.Context()), 5, fleet.MaxLeaseWait)
			refused <- err
		}()
		testenv.Eventually(t, func() bool {
			return w.controlCount("select count(*) from agents where id = $1 and last_seen_at is not null", a.id) == 1
		}, "the agent polls")
		w.decide(a, action)
		err := <-refused
		if action == fleet.RevokeAgent {
			require.ErrorIs(t, err, functions.ErrAgentRevoked)
		} else {
			require.ErrorIs(t, err, functions.ErrNotEnrolled)
		}
	}
}

// TestTheClockOfAnAgentDoesNotMatter posts results and an acceptance of an agent whose clock is an hour wrong.
func TestTheClockOfAnAgentDoesNotMatter(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.submit(2, func(j *functions.NewJob) { j.Quorum = 1 })
	w.settleAll()
	for _, wrong := range []time.Duration{-time.Hour, time.Hour} {
		a := w.agent(func(input string) functions.Result {
			r := honest(input)
			r.StartedAt, r.EndedAt = time.Now().Add(wrong), time.Now().Add(wrong+time.Second)
			return r
		})
		require.Equal(t, 1, a.do(1))
	}
	require.Zero(t, w.count("select count(*) from attempts where reported_at < now() - interval '1 minute' or reported_at > now() + interval '1 minute'"))
	w.settleAll()
	requireTruth(t, w.job(job.ID), truth(rangeOf(2)))
}
