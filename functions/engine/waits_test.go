package engine_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/dispatch"
	dispatchsql "github.com/ostraka/ostraka/functions/dispatch/sql"
	"github.com/ostraka/ostraka/functions/fleet"
	fleetsql "github.com/ostraka/ostraka/functions/fleet/sql"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/testenv"
)

// listen has the world's server hear notifications, until the test ends.
func (w *world) listen() {
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() { w.options.Notices.Run(ctx, w.store.Pool, w.options.Log) })
	w.t.Cleanup(func() { cancel(); done.Wait() })
}

// tell is a notification.
func (w *world) tell(channel string, payload uuid.UUID) {
	w.sql("select pg_notify($1, $2)", channel, payload.String())
}

// heard waits until the server hears: until a notification leads to the query.
func (w *world) heard(channel string, payload uuid.UUID, q store.Query) {
	w.t.Helper()
	before := w.faults.count(q)
	testenv.Eventually(w.t, func() bool {
		w.tell(channel, payload)
		return w.faults.count(q) > before
	}, "the server hears")
}

// TestManyWhoWaitAskForNothing has polls of all kinds wait: between events none of them asks the database, and an event costs a look for
// all of them together.
func TestManyWhoWaitAskForNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.listen()
	const many = 40
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	t.Cleanup(func() { cancel(); all.Wait() })
	waits := func(wait func(ctx context.Context) error) {
		all.Go(func() {
			if err := wait(ctx); err != nil && ctx.Err() == nil {
				t.Error(err)
			}
		})
	}
	job := w.submit(5, func(j *functions.NewJob) { j.Quorum = 1 })
	agents := make([]*agent, many)
	for i := range agents {
		agents[i] = w.agent(honest)
	}
	known, err := w.Directives(t.Context(), agents[0].id, "", 0)
	require.NoError(t, err)
	var lent atomic.Int64
	tries, directives := w.faults.count(dispatchsql.OpenJobsForAgent), w.faults.count(fleetsql.AgentDirectives)
	for _, a := range agents {
		waits(func(ctx context.Context) error {
			lease, err := w.Lease(ctx, a.id, dispatch.Poll{Most: 1, Wait: fleet.MaxLeaseWait}, functions.Idempotency{})
			if lease != nil {
				lent.Add(1)
			}
			return err
		})
		waits(func(ctx context.Context) error {
			_, err := w.Directives(ctx, a.id, known.Revision, fleet.MaxLeaseWait)
			return err
		})
		waits(func(ctx context.Context) error {
			_, err := w.WaitJob(ctx, w.project, job.ID, fleet.MaxLeaseWait)
			return err
		})
	}
	testenv.Eventually(t, func() bool {
		return w.faults.count(dispatchsql.OpenJobsForAgent) == tries+many && w.faults.count(fleetsql.AgentDirectives) == directives+many
	}, "each asks once when it comes")
	w.heard("ostraka_work", w.project, dispatchsql.LendableShards)
	w.heard("ostraka_jobs", job.ID, store.GetJobState)
	looks, jobs := w.faults.count(dispatchsql.LendableShards), w.faults.count(store.GetJobState)
	for range 10 {
		w.heard("ostraka_work", w.project, dispatchsql.LendableShards)
		w.heard("ostraka_jobs", job.ID, store.GetJobState)
	}
	require.Less(t, w.faults.count(dispatchsql.LendableShards)-looks, 10*many, "a look for all")
	require.Less(t, w.faults.count(store.GetJobState)-jobs, 10*many, "a look for all")
	require.Equal(t, tries+many, w.faults.count(dispatchsql.OpenJobsForAgent), "no agent looks for work that there is not")
	require.Equal(t, directives+many, w.faults.count(fleetsql.AgentDirectives))
	w.settleAll() // now there are shards
	testenv.Eventually(t, func() bool { return lent.Load() == 5 }, "as many agents have work as there is")
	require.Less(t, w.faults.count(dispatchsql.OpenJobsForAgent), tries+2*many, "the others were not woken for it")
	w.check(job.ID)
}

// TestAPollHearsOfAnotherProject has an agent wait that is let into a project with work meanwhile.
func TestAPollHearsOfAnotherProject(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.listen()
	a := w.agent(honest)
	other, by := w.newProject("other")
	got := make(chan *functions.Lease, 1)
	tries := w.faults.count(dispatchsql.OpenJobsForAgent)
	go func() {
		lease, err := w.Lease(context.WithoutCancel(t.Context()), a.id, dispatch.Poll{Most: 1, Wait: fleet.MaxLeaseWait}, functions.Idempotency{})
		if err != nil {
			t.Error(err)
		}
		got <- lease
	}()
	testenv.Eventually(t, func() bool { return w.faults.count(dispatchsql.OpenJobsForAgent) > tries }, "it waits")
	w.heard("ostraka_agents", a.id, fleetsql.SeeAgent)
	_, err := w.AdmitAgent(t.Context(), by, other, a.id, "", "welcome")
	require.NoError(t, err)
	w.project, w.by = other, by
	w.pushFunction("numbers", "")
	job := w.submit(3)
	w.settleAll()
	testenv.Eventually(t, func() bool { return len(got) == 1 }, "the poll that waits is given work of the other project")
	require.Equal(t, job.ID, (<-got).Job)
}
