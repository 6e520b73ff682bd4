package engine_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/dispatch"
	"github.com/ostraka/ostraka/functions/engine"
	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/functions/verify"
)

// smallLoans lends as the server does that was told nothing else.
func smallLoans(o *engine.Options) { o.FirstLoan = 0 }

// takeAll leases until there is nothing more for the agent, and says how many shards it was.
func (a *agent) takeAll() (shards int, leases []*functions.Lease) {
	a.w.t.Helper()
	for lease := a.lease(dispatch.MaxLeaseShards); lease != nil; lease = a.lease(dispatch.MaxLeaseShards) {
		shards += len(lease.Shards)
		leases = append(leases, lease)
	}
	return shards, leases
}

func (a *agent) pausedUntil(job uuid.UUID) (n int64) {
	return a.w.count("select count(*) from lease_cursors where job_id = $1 and agent_id = $2 and paused_until > now()", job, a.id)
}

// TestAnIdleAgentTakesNoJobDown: it leases all that it can get and never answers, with one token.
func TestAnIdleAgentTakesNoJobDown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, smallLoans)
	job := w.submit(600, func(j *functions.NewJob) { j.Quorum = 1 })
	w.settleAll()
	idle, worker := w.agent(honest), w.agent(honest)
	taken := 0
	for range 2 * dispatch.MaxLost {
		n, leases := idle.takeAll()
		taken += n
		for _, l := range leases {
			w.expire(l.ID)
		}
	}
	require.LessOrEqual(t, taken, verify.FirstLoan+verify.IdleLeases, "after the first loss one shard at a time, then nothing for a while")
	require.Equal(t, int64(1), idle.pausedUntil(job.ID))
	w.sql("update " + w.schema() + ".lease_cursors set paused_until = now() - interval '1 second'")
	for range 2 * dispatch.MaxLost { // however often its pauses end
		_, leases := idle.takeAll()
		for _, l := range leases {
			w.expire(l.ID)
		}
		w.sql("update " + w.schema() + ".lease_cursors set paused_until = now() - interval '1 second'")
	}
	require.Zero(t, w.job(job.ID).Shards.Review, "leases of one owner are not enough")
	w.check(job.ID)
	for worker.do(dispatch.MaxLeaseShards) > 0 {
		w.settleAll()
	}
	require.Equal(t, functions.JobFinished, w.job(job.ID).State)
	requireTruth(t, w.job(job.ID), truth(rangeOf(600)))
}

func TestWhatAnOwnerMayHoldGrowsWithWhatItBrings(t *testing.T) {
	t.Parallel()
	w := newWorld(t, smallLoans)
	job := w.submit(3000, func(j *functions.NewJob) { j.Quorum = 1 })
	w.settleAll()
	a := w.sibling(honest)
	for _, want := range []int{verify.FirstLoan, 2 * verify.FirstLoan, 4 * verify.FirstLoan} {
		n, leases := a.takeAll()
		require.Equal(t, want, n)
		for _, l := range leases {
			a.report(l)
		}
	}
	n, leases := a.takeAll()
	require.Equal(t, 8*verify.FirstLoan, n)
	b := w.sibling(honest)
	m, others := b.takeAll()
	require.Equal(t, verify.FirstLoan, m, "another machine of the owner adds what a machine begins with")
	w.expire(leases[0].ID)
	n, _ = a.takeAll()
	require.Zero(t, n, "what was lost is not lent again at once")
	require.Zero(t, a.pausedUntil(job.ID), "it has brought much back before")
	b.report(others[0])
	n, _ = b.takeAll()
	require.Positive(t, n)
	w.check(job.ID)
}

func TestOpenLeasesAreBoundedByCores(t *testing.T) {
	t.Parallel()
	w := newWorld(t, smallLoans)
	w.submit(100, func(j *functions.NewJob) { j.Quorum = 1 })
	w.settleAll()
	a := w.agent(honest)
	w.sql("update ostraka.agents set platform = platform || '{\"cpus\": 5}' where id = $1", a.id)
	for range verify.OpenLeases(5) {
		require.NotNil(t, a.lease(1))
	}
	require.Nil(t, a.lease(1))
}

// TestOnlyResultsMoveTheLastCall: heartbeats keep no lease longer than a shard may take.
func TestOnlyResultsMoveTheLastCall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	v := w.pushFunction("slow", "[limits]\nwall_seconds = 600\n")
	w.submit(500, func(j *functions.NewJob) { j.Function, j.Quorum = "slow", 1 })
	w.settleAll()
	a := w.agent(honest)
	lease := a.lease(500)
	left := func() (seconds int64) {
		require.NoError(t, w.store.Pool.QueryRow(t.Context(), "select extract(epoch from last_call - now())::bigint from ostraka.leases where id = $1", lease.ID).Scan(&seconds))
		return seconds
	}
	most := v.Manifest.Limits.WallSeconds + 300
	require.LessOrEqual(t, left(), most)
	w.sql("update ostraka.leases set last_call = now() + interval '1 second'")
	_, err := w.Heartbeat(t.Context(), a.id, fleet.Heartbeat{Leases: []uuid.UUID{lease.ID}})
	require.NoError(t, err)
	require.LessOrEqual(t, left(), int64(1), "a heartbeat moves nothing")
	_, err = a.post(lease.ID, a.results(lease.Shards[:1])...)
	require.NoError(t, err)
	require.Greater(t, left(), int64(600), "a result does")
	require.LessOrEqual(t, left(), most)
}

// victims are agents of as many owners that, lent shards in turn, let so many leases die that a person must look.
func (w *world) victims() (all []*agent) {
	for range (dispatch.MaxLost + verify.IdleLeases - 1) / verify.IdleLeases {
		all = append(all, w.agent(honest))
	}
	return all
}

func TestAShardIsLookedAtWhenItKillsAgentsOfEnoughOwners(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.submit(1, func(j *functions.NewJob) { j.Quorum = 1 })
	w.settleAll()
	one, two, three := w.agent(honest), w.agent(honest), w.agent(honest)
	die := func(a *agent) {
		w.expire(a.lease(1).ID)
		w.sql("update " + w.schema() + ".lease_cursors set paused_until = null")
	}
	die(three)
	for i := range dispatch.MaxLost - 1 {
		require.Equal(t, functions.JobRunning, w.job(job.ID).State)
		die([]*agent{one, two}[i%2])
	}
	require.Equal(t, functions.JobReview, w.job(job.ID).State)

	again := w.submit(1, func(j *functions.NewJob) { j.Quorum = 1 })
	w.settleAll()
	for range dispatch.MaxLost - 1 {
		die(one)
	}
	require.Equal(t, functions.JobRunning, w.job(again.ID).State, "one lease fewer")
	require.NoError(t, w.ReturnLease(t.Context(), two.id, two.lease(1).ID))
	die(one)
	require.Equal(t, functions.JobRunning, w.job(again.ID).State, "another owner could execute it")
	die(two)
	require.Equal(t, functions.JobReview, w.job(again.ID).State)
	w.check(again.ID)
}

// TestAnAgentThatGivesEverythingBackIsPaused: leases that it takes and returns cost its project turns, which it must not use up without end.
func TestAnAgentThatGivesEverythingBackIsPaused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.submit(1000, func(j *functions.NewJob) { j.Quorum = 1 })
	w.settleAll()
	a, other := w.agent(honest), w.agent(honest)
	giveBack := func(a *agent) {
		lease := a.lease(1)
		require.NotNil(t, lease)
		require.NoError(t, w.ReturnLease(t.Context(), a.id, lease.ID))
		require.NoError(t, w.ReturnLease(t.Context(), a.id, lease.ID), "once more is harmless, and counts once")
	}
	for range verify.FreeReturns {
		giveBack(a)
		require.Zero(t, a.pausedUntil(job.ID))
	}
	giveBack(a)
	past := func() {
		w.sql("update " + w.schema() + ".lease_cursors set paused_until = paused_until - interval '1 day'")
	}
	paused := func(a *agent) int64 {
		return w.count("select coalesce(sum(extract(epoch from paused_until - now())), 0)::bigint from lease_cursors where agent_id = $1 and paused_until > now()", a.id)
	}
	for range 12 {
		past()
		giveBack(a)
	}
	require.Greater(t, paused(a), int64(verify.LongestReturnPause.Seconds()/2))
	require.Nil(t, a.lease(1), "there is work, and not for it")
	giveBack(other)

	past()
	require.Positive(t, a.do(1))
	for range verify.FreeReturns {
		giveBack(a)
		require.Zero(t, a.pausedUntil(job.ID), "it begins anew after a result")
	}
}
