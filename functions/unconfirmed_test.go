package functions_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
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
