package engine_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/base"
	dispatchsql "github.com/ostraka/ostraka/functions/dispatch/sql"
	"github.com/ostraka/ostraka/functions/fleet"
	"github.com/ostraka/ostraka/functions/review"
	"github.com/ostraka/ostraka/testenv"
)

func (w *world) cancel(job uuid.UUID) (functions.Job, error) {
	return w.CancelJob(w.t.Context(), w.by, w.project, job)
}

// requireCancelled checks a cancelled job after its steps were run.
func (w *world) requireCancelled(id uuid.UUID) functions.Job {
	w.t.Helper()
	w.settleAll()
	job := w.job(id)
	require.Equal(w.t, functions.JobCancelled, job.State)
	require.Contains(w.t, job.Error, "cancelled by owner:")
	require.Equal(w.t, job.Shards.Total, job.Shards.Accepted+job.Shards.Failed+job.Shards.Cancelled, "%+v", job.Shards)
	require.Len(w.t, w.events(id, base.EventEnded), 1)
	w.check(id)
	again, err := w.cancel(id)
	require.NoError(w.t, err, "cancelling twice is harmless")
	require.Equal(w.t, job.FinishedAt, again.FinishedAt)
	require.Zero(w.t, w.controlCount("select count(*) from open_jobs where job_id = $1", id))
	require.Zero(w.t, w.controlCount("select count(*) from leases where job_id = $1 and ended_at is null", id))
	require.Nil(w.t, w.agent(honest).lease(1))
	return job
}

func TestCancelBeforeTheSplit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.submit(3000)
	_, err := w.cancel(job.ID)
	require.NoError(t, err)
	done := w.requireCancelled(job.ID)
	require.Equal(t, int64(3000), done.Shards.Cancelled)
	require.Zero(t, w.count("select count(*) from shards"))
}

func TestCancelInTheMiddle(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.submit(3000)
	w.settleAll()
	a, b, c := w.agent(honest), w.agent(honest), w.agent(honest)
	a.do(1000)
	b.do(500)
	w.settleAll()
	held, late := a.lease(100), c.lease(200)
	late2 := late.Shards[150:]
	_, err := c.post(late.ID, c.results(late.Shards[:150])...)
	require.NoError(t, err) // recorded, and not weighed when the job is cancelled
	now, err := w.cancel(job.ID)
	require.NoError(t, err)
	require.Equal(t, functions.JobCancelled, now.State)
	done := w.requireCancelled(job.ID)
	require.GreaterOrEqual(t, done.Shards.Accepted, int64(500))
	for _, l := range []*functions.Lease{held, late} {
		d, err := w.Heartbeat(t.Context(), c.id, fleet.Heartbeat{Leases: []uuid.UUID{l.ID}})
		require.NoError(t, err)
		require.Equal(t, []uuid.UUID{l.ID}, d.EndedLeases)
	}
	_, err = c.post(late.ID, c.results(late2)...)
	require.ErrorIs(t, err, functions.ErrLeaseEnded)
	require.NoError(t, w.ReturnLease(t.Context(), a.id, held.ID))
	w.check(job.ID)
	e, err := w.Explain(t.Context(), w.project, job.ID)
	require.NoError(t, err)
	require.Equal(t, "cancelled", e.Reasons[0].Code)
}

func TestCancelInReview(t *testing.T) {
	t.Parallel()
	w, job, _ := contested(t)
	_, err := w.cancel(job.ID)
	require.NoError(t, err)
	require.Equal(t, functions.ShardCounts{Total: 3, Accepted: 2, Cancelled: 1}, w.requireCancelled(job.ID).Shards)
	_, err = w.resolve(job, 1, review.Resolution{Decision: "retry", Reason: "r"})
	requireCode(t, err, "not_in_review")
}

// TestCancelWhileALeaseIsGiven has a poll that has picked its shards before the job is cancelled, and gets its lease after that.
func TestCancelWhileALeaseIsGiven(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.submit(10)
	w.settleAll()
	a := w.agent(honest)
	picked, release := w.holdUp(dispatchsql.AddLease)
	given, cancelled := make(chan *functions.Lease, 1), make(chan error, 1)
	go func() {
		lease, err := a.Lease(t.Context(), 5, 0)
		if err != nil {
			t.Error(err)
		}
		given <- lease
	}()
	<-picked
	_, err := w.cancel(job.ID)
	require.NoError(t, err)
	step := w.steps()[0]
	go func() { cancelled <- w.step(step) }()
	testenv.Eventually(t, func() bool {
		return w.controlCount("select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'") > 0
	}, "the step waits for the shards")
	release()
	lease := <-given
	require.NoError(t, <-cancelled)
	w.done(step)
	require.Len(t, lease.Shards, 5)
	w.requireCancelled(job.ID)
	d, err := w.Heartbeat(t.Context(), a.id, fleet.Heartbeat{Leases: []uuid.UUID{lease.ID}})
	require.NoError(t, err)
	require.Equal(t, []uuid.UUID{lease.ID}, d.EndedLeases, "it is told to stop")
}

// TestCancelBetweenTheLastSteps cancels when nothing but the steps named is left, and runs them after it.
func TestCancelBetweenTheLastSteps(t *testing.T) {
	t.Parallel()
	for _, before := range []string{"verify", "aggregate", "merge", "finish"} {
		t.Run(before, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			job := w.submit(3, func(j *functions.NewJob) { j.Quorum = 1 })
			w.settleAll()
			w.agent(honest).do(3)
			cancelled := false
			w.drain(func(s waiting) {
				if s.Kind == before {
					_, err := w.cancel(job.ID)
					require.NoError(t, err)
					cancelled = true
				}
				w.once(s)
			})
			require.True(t, cancelled)
			w.requireCancelled(job.ID)
		})
	}
}

func TestAnEndedJobCannotBeCancelled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	job := w.submit(1, func(j *functions.NewJob) { j.Quorum = 1 })
	w.settleAll()
	w.agent(honest).do(1)
	w.settleAll()
	_, err := w.cancel(job.ID)
	require.ErrorIs(t, err, functions.ErrJobEnded)
	_, err = w.cancel(uuid.New())
	requireCode(t, err, "not_found")
}

// controlCount runs a query for one number on the control schema.
func (w *world) controlCount(sql string, args ...any) (n int64) {
	w.t.Helper()
	require.NoError(w.t, w.store.Control(w.t.Context(), func(tx pgx.Tx) error {
		return tx.QueryRow(w.t.Context(), sql, args...).Scan(&n)
	}))
	return n
}
