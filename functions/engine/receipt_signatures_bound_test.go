package engine_test

import (
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/dispatch"
)

// TestNoPostRepeatsMoreThanItAdds: receipts show posts as a whole, so the work of one would grow with the square of the results. Who sends the halves
// is through.
func TestNoPostRepeatsMoreThanItAdds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.submit(12)
	w.settleAll()
	a := w.agent(honest)
	lease := a.lease(12)
	results := a.results(lease.Shards)
	_, err := a.post(lease.ID, results[:5]...)
	require.NoError(t, err)
	_, err = a.post(lease.ID, results[:9]...)
	require.ErrorIs(t, err, dispatch.ErrRepeats, "5 and 4 more")
	require.EqualValues(t, 5, w.count("select count(*) from attempts"))
	recorded, err := a.post(lease.ID, results[:10]...)
	require.NoError(t, err, "5 and 5 more")
	require.Equal(t, dispatch.Recorded{Recorded: 5, Duplicate: 5}, recorded)
	recorded, err = a.post(lease.ID, results[:10]...)
	require.NoError(t, err, "all again, as after a lost answer")
	require.Equal(t, dispatch.Recorded{Duplicate: 10}, recorded)
	_, err = a.post(lease.ID, results...)
	require.ErrorIs(t, err, dispatch.ErrRepeats)
	_, err = a.post(lease.ID, results[6:]...)
	require.ErrorIs(t, err, dispatch.ErrRepeats, "4 and 2")
	recorded, err = a.post(lease.ID, results[9:]...)
	require.NoError(t, err, "half of that")
	require.Equal(t, dispatch.Recorded{Recorded: 2, Duplicate: 1, Done: true}, recorded)
}

// TestWhoHasSignedWorkSignsWork: an agent whose key is in the log cannot leave a receipt without its signature, unless its lease is of a server that has
// not asked for it.
func TestWhoHasSignedWorkSignsWork(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.submit(30)
	w.settleAll()
	a := w.agent(honest)
	a.older = true
	require.Equal(t, 5, a.do(5), "agents of before go on")
	a.older = false
	require.Equal(t, 5, a.do(5))
	lease := a.lease(5)
	a.older = true
	_, err := a.post(lease.ID, a.results(lease.Shards)...)
	require.ErrorIs(t, err, dispatch.ErrStatement)
	w.exec("update leases set statement = 1 where id = $1", lease.ID)
	a.report(lease)
	require.EqualValues(t, 15, w.count("select count(*) from attempts"))
}

// TestTheKeyOfAnAgentIsRecordedOnce although it posts results of many leases at a time.
func TestTheKeyOfAnAgentIsRecordedOnce(t *testing.T) {
	t.Parallel()
	for range 5 {
		w := newWorld(t)
		w.submit(64)
		w.settleAll()
		a := w.agent(honest)
		var leases []*functions.Lease
		for range 8 {
			leases = append(leases, a.lease(8))
		}
		start := make(chan struct{})
		var all sync.WaitGroup
		errs := make([]error, len(leases))
		for i, lease := range leases {
			results := a.results(lease.Shards)
			all.Go(func() {
				<-start
				_, errs[i] = a.w.Record(t.Context(), a.id, lease.ID, a.sign(lease.ID, results))
			})
		}
		close(start)
		all.Wait()
		for _, err := range errs {
			require.NoError(t, err)
		}
		require.EqualValues(t, 1, w.count("select count(*) from audit where action = 'agent.key'"))
		require.EqualValues(t, 1, w.count("select count(*) from agent_keys k join audit a on a.seq = k.record_seq"))
	}
}

// TestWhatAgentsSignedOfAReceiptOfBeforeGoes, while it is made anew what was there is, and with it what a making left that was given up.
func TestWhatAgentsSignedOfAReceiptOfBeforeGoes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.submit(40, func(j *functions.NewJob) { j.Quorum = 1 })
	w.settleAll()
	a := w.agent(honest)
	for a.do(7) > 0 {
		w.settleAll()
	}
	w.settleAll()
	w.makeReceipt(job.ID)
	lines := w.count("select count(*) from receipt_signatures")
	require.EqualValues(t, 7, lines, "a key and six posts")
	first := w.downloaded(job.ID)
	makings := func() int64 { return w.count("select count(distinct making) from receipt_signatures") }

	// A making that was given up, and many lines of one long ago.
	w.exec(`insert into receipt_signatures (job_id, making, id, batch, place, kind, line)
		select job_id, 0, gen_random_uuid(), 0, n, 1, '' from receipts, generate_series(1, 4500) n`)
	w.exec("insert into receipt_signatures (job_id, making, id, batch, place, kind, line) select job_id, signatures + 1, $1, 0, 0, 1, '' from receipts", uuid.New())
	w.exec("update receipts set signatures_making = signatures + 1")
	require.Equal(t, first, w.downloaded(job.ID), "lines of other makings are none of the receipt")

	w.age(job.ID)
	w.makeReceipt(job.ID)
	require.Equal(t, lines, w.count("select count(*) from receipt_signatures"))
	require.EqualValues(t, 1, makings())
	_, _, check, err := w.signedReceipt(job.ID)
	require.NoError(t, err)
	signed, unsigned := check.Signed()
	require.EqualValues(t, 40, signed)
	require.Zero(t, unsigned)
}
