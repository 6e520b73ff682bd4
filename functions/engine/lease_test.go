package engine_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/dispatch"
	"github.com/ostraka/ostraka/functions/engine"
	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/functions/partition"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/testenv"
)

// expire makes time pass for one lease.
func (w *world) expire(lease uuid.UUID) {
	w.t.Helper()
	w.sql("update ostraka.leases set deadline = now() - interval '1 second' where id = $1 and ended_at is null", lease)
	require.NoError(w.t, w.Expire(w.t.Context(), stepargs.ExpireArgs{}))
}

// sql changes what only time or an operator changes.
func (w *world) sql(text string, args ...any) {
	w.t.Helper()
	_, err := w.store.Pool.Exec(w.t.Context(), text, args...)
	require.NoError(w.t, err)
}

func TestALeaseThatDiesReturnsItsShards(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.agent(honest), w.agent(honest)
	job := w.submit(5, func(j *functions.NewJob) { j.Quorum = 1 })
	w.settleAll()
	dead := a.lease(5)
	require.Nil(t, b.lease(5))
	_, err := a.post(dead.ID, a.results(dead.Shards[:2])...)
	require.NoError(t, err)
	require.NoError(t, w.Expire(t.Context(), stepargs.ExpireArgs{}))
	require.Nil(t, b.lease(5), "it is alive until its deadline")
	w.expire(dead.ID)
	w.expire(dead.ID)
	w.check(job.ID)
	_, err = a.post(dead.ID, a.results(dead.Shards)...)
	require.ErrorIs(t, err, functions.ErrLeaseExpired)
	require.Equal(t, int64(1), w.count("select count(*) from audit where action = 'lease.expire'"))

	require.Equal(t, 1, a.do(1), "the agent itself may have one of them again")
	require.Equal(t, 2, b.do(5))
	w.settleAll()
	done := w.job(job.ID)
	require.Equal(t, functions.JobFinished, done.State)
	requireTruth(t, done, truth(rangeOf(5)))
	shard, err := w.GetShard(t.Context(), w.project, job.ID, 4)
	require.NoError(t, err)
	require.Equal(t, 1, shard.Lost)
	w.check(job.ID)
}

func TestHeartbeatsKeepALeaseUntilItsLastCall(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *engine.Options) { o.LeaseTTL = 0 })
	a := w.agent(honest)
	w.submit(2)
	w.settleAll()
	lease := a.lease(2)
	require.Equal(t, int(engine.DefaultLeaseTTL/time.Second), lease.TTLSeconds)
	deadline := func() (at time.Time) {
		require.NoError(t, w.store.Pool.QueryRow(t.Context(), "select deadline from ostraka.leases where id = $1", lease.ID).Scan(&at))
		return at
	}
	w.sql("update ostraka.leases set deadline = now() + interval '1 second'")
	before := deadline()
	stranger := uuid.New()
	d, err := w.Heartbeat(t.Context(), a.id, fleet.Heartbeat{Leases: []uuid.UUID{lease.ID, stranger}})
	require.NoError(t, err)
	require.Equal(t, []uuid.UUID{stranger}, d.EndedLeases)
	require.Greater(t, deadline(), before)
	d, err = w.Heartbeat(t.Context(), w.agent(honest).id, fleet.Heartbeat{Leases: []uuid.UUID{lease.ID}})
	require.NoError(t, err)
	require.Equal(t, []uuid.UUID{lease.ID}, d.EndedLeases, "a lease of another agent is none")
	w.sql("update ostraka.leases set last_call = now() - interval '1 second'")
	_, err = w.Heartbeat(t.Context(), a.id, fleet.Heartbeat{Leases: []uuid.UUID{lease.ID}})
	require.NoError(t, err)
	require.NoError(t, w.Expire(t.Context(), stepargs.ExpireArgs{}))
	d, err = w.Heartbeat(t.Context(), a.id, fleet.Heartbeat{Leases: []uuid.UUID{lease.ID}})
	require.NoError(t, err)
	require.Equal(t, []uuid.UUID{lease.ID}, d.EndedLeases)
}

func TestTheSameKeyIsTheSameLease(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.agent(honest), w.agent(honest)
	job := w.submit(50)
	w.settleAll()
	key := functions.Idempotency{Key: "poll-1", RequestDigest: [32]byte{1}}
	first, err := w.Lease(t.Context(), a.id, dispatch.Poll{Most: 5, Wait: 0}, key)
	require.NoError(t, err)
	again, err := w.Lease(t.Context(), a.id, dispatch.Poll{Most: 5, Wait: 0}, key)
	require.NoError(t, err)
	require.Equal(t, first.Shards, again.Shards)
	require.Equal(t, first.ID, again.ID)
	other, err := w.Lease(t.Context(), b.id, dispatch.Poll{Most: 5, Wait: 0}, key)
	require.NoError(t, err)
	require.NotEqual(t, first.ID, other.ID, "keys belong to an agent")
	_, err = w.Lease(t.Context(), a.id, dispatch.Poll{Most: 6, Wait: 0}, functions.Idempotency{Key: "poll-1", RequestDigest: [32]byte{2}})
	require.ErrorIs(t, err, functions.ErrIdempotencyMismatch)
	a.report(first)
	_, err = w.Lease(t.Context(), a.id, dispatch.Poll{Most: 5, Wait: 0}, key)
	require.ErrorIs(t, err, functions.ErrLeaseEnded)

	var all sync.WaitGroup
	ids := make([]uuid.UUID, 6)
	for i := range ids {
		all.Go(func() {
			lease, err := w.Lease(context.Background(), a.id, dispatch.Poll{Most: 5, Wait: 0}, functions.Idempotency{Key: "poll-2"})
			if err != nil {
				t.Error(err)
				return
			}
			ids[i] = lease.ID
		})
	}
	all.Wait()
	for _, id := range ids {
		require.Equal(t, ids[0], id)
	}
	w.check(job.ID)
	_, err = w.Lease(t.Context(), a.id, dispatch.Poll{Most: 0, Wait: 0}, functions.Idempotency{})
	requireCode(t, err, "bad_max")
	_, err = w.Lease(t.Context(), a.id, dispatch.Poll{Most: dispatch.MaxLeaseShards + 1, Wait: 0}, functions.Idempotency{})
	requireCode(t, err, "bad_max")
	_, err = w.Lease(t.Context(), uuid.New(), dispatch.Poll{Most: 1, Wait: 0}, functions.Idempotency{})
	requireCode(t, err, "not_found")
}

func TestALeaseIsLimitedInBytes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	item := `"` + strings.Repeat("x", partition.MaxItemBytes-2) + `"`
	const fit = dispatch.MaxLeaseInput / partition.MaxItemBytes
	w.submit(0, func(j *functions.NewJob) {
		j.Partition, j.Items = partition.Spec{Kind: partition.KindItems}, []byte(strings.Repeat(item+"\n", fit+2))
	})
	w.settleAll()
	a := w.agent(honest)
	require.Len(t, a.lease(dispatch.MaxLeaseShards).Shards, fit)
	require.Equal(t, []int64{fit, fit + 1}, numbers(a.lease(dispatch.MaxLeaseShards)))
}

// TestOldJobsThatWaitDoNotHideNewOnes has an agent that has done all it may in many old jobs.
func TestOldJobsThatWaitDoNotHideNewOnes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.agent(honest)
	for range 40 {
		w.submit(1)
	}
	w.settleAll()
	for range 40 {
		require.Equal(t, 1, a.do(10))
	}
	require.Nil(t, a.lease(10))
	fresh := w.submit(1)
	w.settleAll()
	require.Equal(t, fresh.ID, a.lease(10).Job)
}

func TestAgentsGetWhatTheirSandboxAllows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pushFunction("careful", "min_isolation = \"linux\"\n")
	job := w.submit(1, func(j *functions.NewJob) { j.Function = "careful" })
	w.settleAll()
	require.Nil(t, w.agent(honest).lease(1))
	e, err := w.Explain(t.Context(), w.project, job.ID)
	require.NoError(t, err)
	require.Equal(t, "isolation", e.Reasons[0].Code)
	require.Contains(t, e.Reasons[0].Text, "linux")
}

func TestAPollWaitsForWork(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.work()
	a := w.agent(honest)
	got := make(chan *functions.Lease, 1)
	go func() {
		lease, err := a.Lease(t.Context(), 5, fleet.MaxLeaseWait)
		if err != nil {
			t.Error(err)
		}
		got <- lease
	}()
	job := w.submit(5)
	testenv.Eventually(t, func() bool { return len(got) == 1 }, "the poll that waits is given a lease")
	require.Equal(t, job.ID, (<-got).Job)
}

// TestPollsAtOnceNeverLendAShardTwice has one agent poll from many connections at once, where each shard is wanted often.
func TestPollsAtOnceNeverLendAShardTwice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.submit(300, func(j *functions.NewJob) { j.Quorum = 16 })
	w.settleAll()
	a := w.agent(honest)
	var all sync.WaitGroup
	for range 12 {
		all.Go(func() {
			for {
				lease, err := a.Lease(t.Context(), 2, 0)
				if err != nil {
					t.Error(err)
				}
				if lease == nil {
					return
				}
			}
		})
	}
	all.Wait()
	w.check(job.ID)
	require.Equal(t, int64(300), w.count("select sum(lent) from shards"))
}
