package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/engine"
	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/queue"
	"github.com/ostraka/ostraka/testenv"
)

// moveTo has the server work on another database.
func (w *world) moveTo(url string) {
	w.t.Helper()
	w.store.Close()
	w.connect(url)
	var err error
	w.queue, err = queue.New(w.store.Pool, w.options.Log)
	require.NoError(w.t, err)
	w.options.Store, w.options.Queue = w.store, w.queue
	w.Service = engine.New(w.options)
}

// TestAServerThatIsRestoredFromABackup goes back to yesterday: agents know keys, leases and results of today that it does not.
func TestAServerThatIsRestoredFromABackup(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	known := w.agent(honest)
	job := w.submit(6)
	w.settleAll()
	require.Equal(t, 2, known.do(2))
	url := w.store.Pool.Config().ConnString()
	w.store.Close()
	backup := testenv.CopyDatabase(t, url)
	w.moveTo(url)

	// Today: an agent joins, another gets a new key, both work, one holds a lease.
	fresh := w.agent(honest)
	_, secret, err := w.join(known.key, w.token, "known", "")
	require.NoError(t, err)
	require.Equal(t, 3, fresh.do(3))
	held := known.lease(2)
	w.settleAll()
	require.NotZero(t, w.job(job.ID).Shards.Accepted)

	w.moveTo(backup)
	_, err = w.Authenticate(ctx, secret)
	requireCode(t, err, "bad_key")
	_, err = known.post(held.ID, known.results(held.Shards)...)
	requireCode(t, err, "not_found")
	_, err = w.Authenticate(ctx, fresh.secret)
	requireCode(t, err, "bad_key")

	// The agent that yesterday's server knew goes on; the other one waits for approval.
	again, _, err := w.join(known.key, "", "known", "")
	require.NoError(t, err)
	require.Equal(t, known.id, again.ID)
	require.Equal(t, fleet.AgentActive, again.State)
	waiting, _, err := w.join(fresh.key, "", "fresh", "")
	require.NoError(t, err)
	require.Equal(t, fleet.AgentPending, waiting.State)
	fresh.id = waiting.ID
	_, err = w.AdmitAgent(ctx, w.by, w.project, fresh.id, "", "")
	require.NoError(t, err)

	// The shards of today are lent again, and nothing counts twice.
	done := w.swarmWithout(job.ID, known, fresh)
	require.Equal(t, functions.JobFinished, done.State)
	requireTruth(t, done, truth(rangeOf(6)))
	w.check(job.ID)
}

// swarmWithout works a job off batch by batch, without a queue that runs.
func (w *world) swarmWithout(job [16]byte, agents ...*agent) functions.Job {
	w.t.Helper()
	for range 20 {
		for _, a := range agents {
			a.do(2)
		}
		w.settleAll()
		if now := w.job(job); now.State.Ended() {
			return now
		}
	}
	return w.job(job)
}
