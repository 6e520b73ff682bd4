package engine_test

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/functions/dispatch"
	"github.com/ostraka/ostraka/functions/planner"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
)

// mostStatements are more than any request or step needs: making a project, which runs each migration, takes some 200.
const mostStatements = 1000

// cutOff does something again and again, cut off at its first statement, at its second and so on, until it gets through. What was
// done before a cut must have left the books in order.
func (w *world) cutOff(job uuid.UUID, do func() error) (cuts int) {
	w.t.Helper()
	return w.cutOffAt(job, func(n int) int { return n + 1 }, do)
}

// cutOffAt is cutOff at some statements: at the first, and then at the one that comes next.
func (w *world) cutOffAt(job uuid.UUID, next func(n int) int, do func() error) (cuts int) {
	w.t.Helper()
	for n := 1; ; n = next(n) {
		require.Less(w.t, n, mostStatements, "it never gets through")
		w.faults.arm(n)
		err := do()
		if !w.disarm() {
			require.NoError(w.t, err)
			return cuts
		}
		cuts++
		require.Error(w.t, err, "cut off at statement %d", n)
		require.True(w.t, store.Unavailable(err), "a dead connection is no fault of the request: %v", err)
		if job != uuid.Nil {
			w.checkChanges(job)
		}
	}
}

// TestEveryStepMayBeCutOffAnywhere carries a job of two pages through all steps. Each call and each step is cut off at each of its
// statements, then run, then run once more. What comes out is what comes out of a quiet run.
func TestEveryStepMayBeCutOffAnywhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	w.pushFunction("proof", "[verification]\nquorum = 1\n")
	_, _, err := w.CreateRule(ctx, w.by, w.project, planner.Rule{
		Name: "prove", Enabled: true, OnFunction: "numbers", When: "true",
		Then: planner.Then{Function: "proof", Partition: `{"kind": "items", "values": [aggregate.value.sum]}`},
	}, functions.Idempotency{})
	require.NoError(t, err)
	_, _, err = w.CreateRule(ctx, w.by, w.project, planner.Rule{
		Name: "wrong", Enabled: true, OnFunction: "numbers", When: "true",
		Then: planner.Then{Function: "missing", Partition: `{"kind": "items", "values": [1]}`},
	}, functions.Idempotency{})
	require.NoError(t, err)
	agents := []*agent{w.agent(honest), w.agent(honest), w.agent(liar), w.agent(honest)}

	var job functions.Job
	w.cutOff(uuid.Nil, func() (err error) {
		job, _, err = w.SubmitJob(ctx, w.by, w.project, functions.NewJob{Function: "numbers", Partition: rangeOf(1030), Quorum: 2}, functions.Idempotency{Key: "job"})
		return err
	})
	require.Equal(t, int64(1), w.count("select count(*) from jobs"))

	cuts := w.cutOffThroughout(job.ID, agents)
	done := w.job(job.ID)
	require.Equal(t, functions.JobFinished, done.State)
	requireTruth(t, done, truth(rangeOf(1030)))
	require.Equal(t, int64(2), w.count("select count(*) from jobs"), "one follow-up")
	require.Len(t, w.events(job.ID, base.EventFollowUp), 1)
	require.Len(t, w.events(job.ID, base.EventSkipped), 1)
	for _, once := range []string{base.EventSubmitted, base.EventRunning, base.EventAggregating, base.EventEnded, base.EventAgentCaught} {
		require.Len(t, w.events(job.ID, once), 1, once)
	}
	require.Len(t, w.events(job.ID, base.EventPage), 2)
	require.Equal(t, int64(1), w.count("select count(*) from flags where kind = 'agent_caught'"))
	require.Equal(t, int64(2060+int(w.count("select failed from trust where caught_at is not null"))), w.count("select sum(passed + failed) from trust"),
		"no evidence is counted twice")
	for _, kind := range []string{"split", "verify", "aggregate", "merge", "finish", "follow_up", "revoke_leases"} {
		require.Greater(t, cuts[kind], 1, "%s was cut off at %v", kind, cuts)
	}
}

// cutOffThroughout brings a job to its end with every call and step of it cut off wherever that can be, and done once more. It returns at
// how many places each kind of step was cut off at most.
func (w *world) cutOffThroughout(job uuid.UUID, agents []*agent) map[string]int {
	w.t.Helper()
	cuts := map[string]int{}
	careful := func(s waiting) {
		n := w.cutOff(job, func() error { return w.step(s) })
		cuts[s.Kind] = max(cuts[s.Kind], n)
		require.NoError(w.t, w.step(s), "and once more")
		w.check(job)
	}
	w.drain(careful)
	for round := 0; !w.job(job).State.Ended(); round++ {
		require.Less(w.t, round, 30)
		for i, a := range agents {
			w.carefulShift(job, a, functions.Idempotency{Key: string(rune('a' + round)), RequestDigest: [32]byte{byte(i)}})
			w.drain(careful)
		}
	}
	return cuts
}

// TestABoundMayBeCutOffAnywhere is the same for a job with a bound, rechecks by the server and a liar whose results are taken back.
func TestABoundMayBeCutOffAnywhere(t *testing.T) {
	t.Parallel()
	c := &court{}
	w := newWorld(t, withCourt(c))
	w.opened()
	job := w.submit(1100, bounded(1e-2))
	agents := []*agent{w.agent(honest), w.agent(liar), w.agent(honest)}
	cuts := w.cutOffThroughout(job.ID, agents)
	done := w.job(job.ID)
	require.Equal(t, functions.JobFinished, done.State, done.Error)
	requireTruth(t, done, truth(rangeOf(1100)))
	require.Equal(t, int64(1), w.count("select count(*) from trust where caught_at is not null"))
	require.Zero(t, w.count("select count(*) from shards where agent_id = $1", agents[1].id))
	w.requireQuiet()
	for _, kind := range []string{"verify", "recheck", "close_window", "tail", "finalise", "taint", "aggregate", "merge", "finish"} {
		require.Positive(t, cuts[kind], "%s was cut off at %v", kind, cuts)
	}
}

// carefulShift is what an agent does when its requests fail: it sends them again.
func (w *world) carefulShift(job uuid.UUID, a *agent, key functions.Idempotency) {
	w.t.Helper()
	ctx := w.t.Context()
	var lease *functions.Lease
	w.cutOff(job, func() (err error) {
		lease, err = w.Lease(ctx, a.id, dispatch.Poll{Most: 700, Wait: 0}, key)
		return err
	})
	if lease == nil {
		return
	}
	if len(lease.Shards) < 10 { // this time it gives up, and comes back
		w.cutOff(job, func() error { return w.ReturnLease(ctx, a.id, lease.ID) })
		key.Key += " again"
		w.cutOff(job, func() (err error) {
			lease, err = w.Lease(ctx, a.id, dispatch.Poll{Most: 700, Wait: 0}, key)
			return err
		})
	}
	results := a.results(lease.Shards)
	sub := a.sign(lease.ID, results)
	var recorded dispatch.Recorded
	w.cutOff(job, func() (err error) {
		recorded, err = w.Record(ctx, a.id, lease.ID, sub)
		return err
	})
	require.True(w.t, recorded.Done)
	require.Equal(w.t, len(results), recorded.Recorded+recorded.Duplicate)
}

// TestCancellingMayBeCutOffAnywhere is the same for the way out.
func TestCancellingMayBeCutOffAnywhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.submit(2100)
	w.settleAll()
	a, b := w.agent(honest), w.agent(honest)
	a.do(300)
	b.do(300)
	w.settleAll()
	w.expire(a.lease(100).ID)
	held := a.lease(200)
	w.cutOff(job.ID, func() error {
		_, err := w.CancelJob(t.Context(), w.by, w.project, job.ID)
		return err
	})
	w.drain(func(s waiting) {
		w.cutOff(job.ID, func() error { return w.step(s) })
		require.NoError(t, w.step(s))
	})
	w.requireCancelled(job.ID)
	require.Equal(t, int64(1), w.count("select count(*) from audit where action = 'job.cancel'"))
	_, err := a.post(held.ID, a.results(held.Shards)...)
	require.ErrorIs(t, err, functions.ErrLeaseEnded)
}

func TestExpiryMayBeCutOffAnywhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.submit(30, func(j *functions.NewJob) { j.Quorum = 1 })
	w.settleAll()
	a := w.agent(honest)
	for range 3 {
		a.lease(10)
	}
	w.sql("update ostraka.leases set deadline = now() - interval '1 second'")
	w.cutOff(job.ID, func() error { return w.Expire(t.Context(), stepargs.ExpireArgs{}) })
	require.Equal(t, int64(30), w.count("select sum(lost) from shards"))
	require.Equal(t, int64(3), w.count("select count(*) from audit where action = 'lease.expire'"))
	require.Nil(t, a.lease(30), "so many leases without a result end in a pause")
	require.Len(t, w.agent(honest).lease(30).Shards, 30)
	w.check(job.ID)
}

// TestMakingAProjectMayBeCutOffAnywhere cuts at each statement before and after the migrations, and at some of theirs: they are alike.
func TestMakingAProjectMayBeCutOffAnywhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := w.faults.total()
	w.newProject("uncut")
	const head, tail, stride = 20, 20, 11
	rest := w.faults.total() - before - tail
	require.Greater(t, rest, head+stride)
	w.faults.dies = true // migrations have statements whose failure shows in the next one, if the connection is dead
	var made functions.Project
	n := w.cutOffAt(uuid.Nil, func(n int) int {
		if n < head || n >= rest {
			return n + 1
		}
		return min(n+stride, rest)
	}, func() (err error) {
		made, _, _, err = w.CreateProject(t.Context(), w.server, "second", functions.Idempotency{Key: "k"})
		return err
	})
	require.Greater(t, n, head+tail/2)
	again, secret, replayed, err := w.CreateProject(t.Context(), w.server, "second", functions.Idempotency{Key: "k"})
	require.NoError(t, err)
	require.True(t, replayed)
	require.Empty(t, secret)
	require.Equal(t, made.ID, again.ID)
	require.NoError(t, w.store.Project(context.Background(), made.ID, func(tx *store.Tx) error {
		_, err := tx.Exec(t.Context(), "select from jobs")
		return err
	}))
}
