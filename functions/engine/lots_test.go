package engine_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/dispatch"
	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/functions/verify"
)

// crowd are so many honest agents, each of an owner of its own, all of them there.
func (w *world) crowd(n int) (agents []*agent, owners []string) {
	w.t.Helper()
	for range n {
		agents = append(agents, w.agent(honest))
	}
	w.there()
	for _, a := range agents {
		owners = append(owners, a.member().Owner)
	}
	return agents, owners
}

// isFor says which shards of a job are for an owner among others by the project's secret, where each needs so many.
func (w *world) isFor(job uuid.UUID, owner string, owners []string, width int64) func(shard int64) bool {
	w.t.Helper()
	var secret []byte
	require.NoError(w.t, w.store.Pool.QueryRow(w.t.Context(), "select secret from ostraka.project_secrets where project_id = $1", w.project).Scan(&secret))
	lots := verify.NewOwnerLots(secret, job.String(), owner, owners)
	return func(shard int64) bool { return lots.Drawn(shard, width) }
}

// lent are the numbers of all shards of leases.
func lent(leases ...*functions.Lease) (numbers []int64) {
	for _, l := range leases {
		for _, s := range l.Shards {
			numbers = append(numbers, s.Number)
		}
	}
	return numbers
}

// TestWhoAsksFirstDoesNotChooseShards: of a job that several owners must answer those who ask first, as often as they like, are lent what is
// for them by the secret draw, and nothing else. The places of all others are kept.
func TestWhoAsksFirstDoesNotChooseShards(t *testing.T) {
	t.Parallel()
	w := newWorld(t, shared(time.Hour))
	const shards, quorum = 200, 3
	agents, owners := w.crowd(10)
	job := w.submit(shards, func(j *functions.NewJob) { j.Quorum = quorum })
	w.settleAll()
	for i, quick := range agents[:3] {
		var all []*functions.Lease
		for range 4 {
			_, leases := quick.takeAll()
			all = append(all, leases...)
		}
		got, mine := lent(all...), w.isFor(job.ID, owners[i], owners, quorum+int64(i)) // those before it are busy, and may have had their share
		require.NotEmpty(t, got)
		for _, n := range got {
			require.True(t, mine(n), "shard %d is for others than agent %d", n, i)
		}
	}
	theirs := w.isFor(job.ID, owners[3], owners, quorum)
	for n := range int64(shards) {
		if theirs(n) {
			require.Equal(t, int64(1), w.count("select count(*) from shards where number = $1 and wanted > 0", n), "the slow one's place of shard %d", n)
		}
	}
	require.NotNil(t, agents[3].lease(dispatch.MaxLeaseShards))
	w.check(job.ID)
}

// TestAuditorsAreDrawn: where no server executes shards, who executes a result again is not who asks first.
func TestAuditorsAreDrawn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, shared(time.Hour))
	const shards = 60
	agents, owners := w.crowd(11)
	givers, quick := agents[:10], agents[10]
	job := w.submit(shards, bounded(1e-3), func(j *functions.NewJob) { j.Confirm = "true" })
	w.settleAll()
	for _, g := range givers {
		require.Equal(t, shards/10, g.do(shards))
	}
	w.settleAll()
	require.Equal(t, int64(shards), w.count("select count(*) from shards where state = 'open' and wanted > 0 and support > 1"), "all are executed again")
	_, leases := quick.takeAll()
	got, mine := lent(leases...), w.isFor(job.ID, owners[10], owners, 2) // the giver's, and one more
	require.NotEmpty(t, got)
	for _, n := range got {
		require.True(t, mine(n), "shard %d is for others", n)
	}
	w.check(job.ID)
}

// TestShardsDoNotWaitForOwnersThatDoNotCome: whoever asks is lent all of them in the end.
func TestShardsDoNotWaitForOwnersThatDoNotCome(t *testing.T) {
	t.Parallel()
	w := newWorld(t, shared(time.Nanosecond))
	const shards = 100
	agents, _ := w.crowd(12)
	job := w.submit(shards, func(j *functions.NewJob) { j.Quorum = 2 })
	w.settleAll()
	for taken, round := 0, 0; taken < shards; round++ {
		require.Less(t, round, 50)
		n, _ := agents[0].takeAll()
		taken += n
	}
	w.check(job.ID)
}

// TestAPollThatWaitsIsLentWhatWasForOthers: nothing is reported, and nothing else happens that it could hear of.
func TestAPollThatWaitsIsLentWhatWasForOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, shared(10*time.Millisecond))
	const shards = 60
	agents, _ := w.crowd(12)
	job := w.submit(shards, func(j *functions.NewJob) { j.Quorum = 2 })
	w.settleAll()
	var all []*functions.Lease
	for len(lent(all...)) < shards {
		lease, err := agents[0].Lease(t.Context(), dispatch.MaxLeaseShards, fleet.MaxLeaseWait)
		require.NoError(t, err)
		require.NotNil(t, lease, "%d shards are lent", len(lent(all...)))
		agents[0].report(lease)
		all = append(all, lease)
	}
	w.check(job.ID)
}

// TestASwarmAmongWhichIsDrawn is TestASwarm with draws: the job ends, and the books are in order at every moment.
func TestASwarmAmongWhichIsDrawn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, shortLeases, shared(50*time.Millisecond))
	w.work("one", "two")
	const shards = 800
	job := w.submit(shards, func(j *functions.NewJob) { j.Quorum = 2 })
	w.runWild(job, 8)
	require.Equal(t, int64(shards), w.count("select count(*) from shards where state = 'accepted'"))
}
