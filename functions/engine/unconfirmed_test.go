package engine_test

import (
	"crypto/sha256"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/flag"
	"github.com/ostraka/ostraka/functions/verify"
)

// TestTimeOutsThatNobodyConfirmsCost: whoever claims them for all it can get is soon lent nothing more of the job, and its siblings neither.
func TestTimeOutsThatNobodyConfirmsCost(t *testing.T) {
	t.Parallel()
	c := &court{}
	w := newWorld(t, smallLoans, withCourt(c))
	w.opened()
	job := w.submit(1000, bounded(1e-3))
	w.settleAll()
	claims := func(string) functions.Result { return functions.Result{Status: "timeout"} }
	one, two, good := w.sibling(claims), w.sibling(claims), w.agent(honest)
	done := w.workOff(job, 1000, one, two, good)
	require.Equal(t, functions.JobFinished, done.State, done.Error)
	requireTruth(t, done, truth(rangeOf(1000)))
	lost := w.count("select sum(results) from lease_cursors where agent_id in ($1, $2)", one.id, two.id)
	require.GreaterOrEqual(t, lost, int64(verify.MaxUnconfirmed))
	require.LessOrEqual(t, lost, int64(4*verify.FirstLoan), "no more than they were lent at first, and once more")
	w.requireUncharged([]*agent{one, two, good})
	require.Zero(t, w.count("select sum(unconfirmed) from lease_cursors where agent_id = $1", good.id))
}

func timesOut(string) functions.Result { return functions.Result{Status: "timeout"} }

// TestWhoClaimsInJobAfterJobIsQuarantined: all machines of its owner, and until it is pardoned. The jobs are too small for it to be lent
// nothing more of one of them.
func TestWhoClaimsInJobAfterJobIsQuarantined(t *testing.T) {
	t.Parallel()
	c := &court{}
	w := newWorld(t, withCourt(c))
	w.opened()
	one, two, good := w.sibling(timesOut), w.sibling(timesOut), w.agent(honest)
	const each = 15 // claims of each of the two, in each job
	require.Less(t, int64(each), int64(verify.MaxUnconfirmed))
	claimed := func() int64 { return w.count("select coalesce(sum(unconfirmed), 0)::bigint from lease_cursors") }
	caught := func() int64 { return w.count("select count(*) from trust where caught_at is not null") }
	var last functions.Job
	for round := 0; caught() == 0; round++ {
		require.Less(t, round, 5)
		last = w.submit(100, bounded(1e-3))
		w.settleAll()
		one.do(each)
		two.do(each)
		w.settleAll()
		done := w.workOff(last, 100, good)
		require.Equal(t, functions.JobFinished, done.State, done.Error)
		requireTruth(t, done, truth(rangeOf(100)))
		w.check(last.ID)
	}
	require.LessOrEqual(t, claimed(), int64(verify.MaxClaims+2*each), "it is found out with the first that is one too many, and others were out")
	require.GreaterOrEqual(t, claimed(), int64(verify.MaxClaims))
	require.Equal(t, int64(2), caught())
	flags := w.flags(last.ID, flag.FlagCaught)
	require.Len(t, flags, 2)
	require.Contains(t, jsonOf(t, w.flag(flags[0].ID)), "ended without an answer where others gave one")
	w.submit(10, bounded(1e-3))
	w.settleAll()
	require.Zero(t, one.do(10)+two.do(10))
	require.Zero(t, w.count("select sum(failed + audits_failed) from trust"), "they are not proven wrong, and the third is left alone")
	require.Zero(t, w.count("select sum(unconfirmed) from lease_cursors where agent_id = $1", good.id))

	_, err := w.PardonAgent(t.Context(), w.by, w.project, one.id, "its clock was wrong")
	require.NoError(t, err)
	require.Zero(t, claimed(), "what counts for all machines of an owner is forgotten of all")
	require.Equal(t, 1, one.do(1))
	require.Zero(t, two.do(1), "who is not pardoned stays caught")
	w.settleAll()
	require.Equal(t, int64(1), caught())
}

// TestAClaimCountsOnce, however often its shard is decided: without a server it is opened again when its agent's window is audited.
func TestAClaimCountsOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.submit(1, bounded(1e-3))
	w.settleAll()
	slow := w.agent(timesOut)
	require.Equal(t, 1, slow.do(1))
	w.settleAll()
	for range verify.Derive(verify.Policy{TargetError: 1e-3}).Voices {
		require.Equal(t, 1, w.agent(honest).do(1))
		w.settleAll()
		require.Equal(t, int64(1), w.count("select unconfirmed from lease_cursors where agent_id = $1", slow.id))
	}
	require.Equal(t, functions.JobFinished, w.job(job.ID).State)
	w.check(job.ID)
}

// TestAnExceptionIsNoClaim: a function that raises now and then does so on machines that are in order.
func TestAnExceptionIsNoClaim(t *testing.T) {
	t.Parallel()
	w := newWorld(t, smallLoans)
	job := w.submit(300, func(j *functions.NewJob) { j.Quorum = 2 })
	w.settleAll()
	var agents []*agent
	for i := range 6 {
		agents = append(agents, w.agent(func(input string) functions.Result {
			if sum := sha256.Sum256(fmt.Append(nil, i, input)); sum[0]%2 == 0 {
				return raised("OSError", fmt.Sprintf("chance %d of %s", i, input))
			}
			return honest(input)
		}))
	}
	for range 30 {
		for _, a := range agents {
			a.do(100)
			w.settleAll()
		}
	}
	w.check(job.ID)
	require.Greater(t, w.job(job.ID).Shards.Accepted, int64(180), "agents are lent the rest though half of what they bring are exceptions")
	require.Zero(t, w.count("select sum(unconfirmed) from lease_cursors"))
	require.Zero(t, w.count("select sum(failed) from lease_cursors"))
	w.requireUncharged(agents)
}
