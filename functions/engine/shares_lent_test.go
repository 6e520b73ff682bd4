package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/engine"
)

// shared lends as the server does, which waits for others as long as a test wants.
func shared(wait time.Duration) func(*engine.Options) {
	return func(o *engine.Options) { o.ShareWait = wait }
}

// there has all agents be heard of.
func (w *world) there() {
	w.sql("update ostraka.agents set last_seen_at = now()")
}

// TestNoOwnerIsLentMoreThanItsShareWhileOthersAreFree: whoever asks first, and however often.
func TestNoOwnerIsLentMoreThanItsShareWhileOthersAreFree(t *testing.T) {
	t.Parallel()
	w := newWorld(t, shared(time.Hour))
	job := w.submit(1000, bounded(1e-3))
	w.settleAll()
	quick, sibling := w.sibling(honest), w.sibling(honest)
	var others []*agent
	for range 9 {
		others = append(others, w.agent(honest))
	}
	w.there()
	n, _ := quick.takeAll()
	m, _ := sibling.takeAll()
	require.Equal(t, 100, n+m, "a tenth of the job, for both machines of the owner")
	for _, a := range others {
		n, _ := a.takeAll()
		require.GreaterOrEqual(t, n, 100)
	}
	w.check(job.ID)
}

// TestAnOwnerIsLentMoreWhereNobodyElseIsFree: the others work, or are not there.
func TestAnOwnerIsLentMoreWhereNobodyElseIsFree(t *testing.T) {
	t.Parallel()
	w := newWorld(t, shared(time.Hour))
	job := w.submit(1000, bounded(1e-3))
	w.settleAll()
	quick, busy, away := w.agent(honest), w.agent(honest), w.agent(honest)
	w.there()
	require.NotNil(t, busy.lease(1))
	w.sql("update ostraka.agents set last_seen_at = now() - interval '66 seconds' where id = $1", away.id)
	n, _ := quick.takeAll()
	require.Equal(t, 999, n)
	w.check(job.ID)
}

// TestAnOwnerWaitsForNobodyWhoDoesNotWant: an agent that is there and takes nothing does not hold up a job.
func TestAnOwnerWaitsForNobodyWhoDoesNotWant(t *testing.T) {
	t.Parallel()
	w := newWorld(t, shared(time.Hour))
	job := w.submit(1000, bounded(1e-3))
	w.settleAll()
	quick, idle := w.agent(honest), w.agent(honest)
	w.there()
	n, _ := quick.takeAll()
	require.Equal(t, 500, n, "half, where two are there")
	w.exec("update lease_cursors set capped_at = capped_at - interval '61 minutes'")
	require.Nil(t, quick.lease(1000), "it has had its time")
	w.exec("update lease_cursors set capped_at = capped_at - interval '60 minutes'")
	n, _ = quick.takeAll()
	require.Equal(t, 500, n)
	require.Zero(t, idle.do(1))
	w.check(job.ID)
}

// TestTwoOwnersDoNotDecideAQuorum: two of twenty owners that lease all that they can get before anybody else, and lie alike.
func TestTwoOwnersDoNotDecideAQuorum(t *testing.T) {
	t.Parallel()
	w := newWorld(t, shared(time.Hour))
	const shards = 1000
	job := w.submit(shards, func(j *functions.NewJob) { j.Quorum = 2 })
	w.settleAll()
	var liars, others []*agent
	for range 2 {
		liars = append(liars, w.agent(liar))
	}
	for range 18 {
		others = append(others, w.agent(honest))
	}
	w.there()
	for _, a := range liars {
		n, leases := a.takeAll()
		require.LessOrEqual(t, n, shards/5, "a tenth of the attempts")
		for _, l := range leases {
			a.report(l)
		}
	}
	w.settleAll()
	wrong := w.count("select count(*) from shards where state = 'accepted'")
	require.Less(t, wrong, int64(shards/10), "two draws of a fifth meet in one of 25; more than one in ten never")
	w.check(job.ID)
	now, err := w.GetJob(t.Context(), w.project, job.ID)
	require.NoError(t, err)
	require.Len(t, now.Owners.Largest, 2)
	require.True(t, now.Owners.Above)
	require.InDelta(t, 0.1, now.Owners.Stated, 1e-9)
	done := w.workOff(job, 1000, others...)
	require.Equal(t, int64(shards), done.Shards.Accepted+done.Shards.Open+done.Shards.Review)
}

// TestAJobNamesItsLargestOwners, and what its bound is worth by their shares.
func TestAJobNamesItsLargestOwners(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withCourt(&court{}))
	w.opened()
	job := w.submit(400, bounded(1e-2))
	w.settleAll()
	require.Nil(t, w.job(job.ID).Owners, "nobody has brought anything")
	one, two, other := w.sibling(honest), w.sibling(honest), w.agent(honest).owned("ada")
	require.Equal(t, 200, one.do(200))
	require.Equal(t, 100, two.do(100))
	require.Equal(t, 100, other.do(100))
	w.settleAll()
	o := w.job(job.ID).Owners
	require.Equal(t, int64(2), o.Owners)
	require.Equal(t, int64(400), o.Results)
	require.InDelta(t, 0.75, o.Largest[0].Share, 1e-9)
	require.Equal(t, int64(2), o.Largest[0].Agents)
	require.Equal(t, "ada", o.Largest[1].Owner)
	require.True(t, o.Above)
	require.InDelta(t, 1e-2*(1+0.9), o.ErrorBound, 1e-9, "the owner by itself spends no more than the target error")
	trusting := w.submit(4, func(j *functions.NewJob) { j.Quorum, j.None = 0, true })
	w.workOff(trusting, 4, one)
	require.Nil(t, w.job(trusting.ID).Owners)
}
