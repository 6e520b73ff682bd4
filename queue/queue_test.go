package queue_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/migrations"
	"github.com/ostraka/ostraka/queue"
	"github.com/ostraka/ostraka/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

var quiet = slog.New(slog.DiscardHandler)

func open(t *testing.T) (*store.Store, *queue.Queue) {
	t.Helper()
	s, err := store.Connect(t.Context(), testenv.Database(t))
	require.NoError(t, err)
	t.Cleanup(s.Close)
	require.NoError(t, migrations.Up(t.Context(), s.Pool, quiet))
	q, err := queue.New(s.Pool, quiet)
	require.NoError(t, err)
	return s, q
}

// work works the queue until the test ends, or until stop is called.
func work(t *testing.T, q *queue.Queue, r *recorder, o queue.Options) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- q.Work(ctx, r, o) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("working the queue: %v", err)
		}
	})
	t.Cleanup(stop)
	return stop
}

func enqueue(t *testing.T, s *store.Store, q *queue.Queue, steps ...functions.Step) {
	t.Helper()
	require.NoError(t, s.Control(t.Context(), func(tx pgx.Tx) error { return q.Enqueue(t.Context(), tx, steps...) }))
}

func TestEveryStepIsWorkedInItsQueue(t *testing.T) {
	t.Parallel()
	s, q := open(t)
	id := uuid.New()
	steps := map[functions.Step]string{
		stepargs.SplitArgs{Job: id}: queue.QueueControl, stepargs.FinishArgs{Job: id}: queue.QueueControl, stepargs.FollowUpArgs{Job: id}: queue.QueueAggregate,
		stepargs.BulkArgs{Bulk: id}: queue.QueueBulk, stepargs.AdvanceRunArgs{Run: id}: queue.QueueAggregate, stepargs.CancelArgs{Job: id}: queue.QueueControl, stepargs.EraseArgs{Job: id}: queue.QueueControl, stepargs.RevokeArgs{Agent: id}: queue.QueueUrgent, stepargs.SilenceArgs{Switch: id}: queue.QueueUrgent,
		stepargs.TaintArgs{Agent: id}: queue.QueueUrgent, stepargs.FinaliseArgs{Job: id}: queue.QueueUrgent,
		stepargs.VerifyArgs{Submission: id}: queue.QueueVerify, stepargs.CompareArgs{Submission: id}: queue.QueueAggregate,
		stepargs.AggregateArgs{Job: id, Page: 1 << 40}: queue.QueueAggregate, stepargs.MergeArgs{Job: id}: queue.QueueAggregate,
		stepargs.ScoreResultsArgs{Job: id, Page: 1}: queue.QueueAggregate, stepargs.JudgeControlsArgs{Job: id}: queue.QueueAggregate,
		stepargs.SpreadWebhooksArgs{Project: id}: queue.QueueControl, stepargs.DeliverWebhookArgs{Delivery: id}: queue.QueueWebhooks,
	}
	for step := range steps {
		enqueue(t, s, q, step)
	}
	for step, name := range steps {
		var n int
		require.NoError(t, s.Pool.QueryRow(t.Context(), "select count(*) from river.river_job where kind = $1 and queue = $2", step.Kind(), name).Scan(&n))
		require.Equal(t, 1, n, "%T", step)
	}
	r := &recorder{}
	work(t, q, r, queue.Options{ServerID: "one"})
	for step := range steps {
		testenv.Eventually(t, func() bool { return r.count(step) == 1 }, "%T is worked", step)
	}
	testenv.Eventually(t, func() bool { return r.count(stepargs.ExpireArgs{}) >= 2 }, "leases are expired again and again")
	testenv.Eventually(t, func() bool { return r.count(stepargs.RetentionArgs{}) >= 1 }, "what is old is forgotten")
	testenv.Eventually(t, func() bool { return r.count(stepargs.DueSchedulesArgs{}) >= 1 }, "schedules are looked at")
	testenv.Eventually(t, func() bool { return r.count(stepargs.DueWebhooksArgs{}) >= 2 }, "webhooks are looked at again and again")
	testenv.Eventually(t, func() bool { return r.count(stepargs.SealArgs{}) >= 2 }, "audit logs are sealed again and again")
}

func TestAStepThatWasRolledBackIsNotWorked(t *testing.T) {
	t.Parallel()
	s, q := open(t)
	lost, kept := stepargs.MergeArgs{Job: uuid.New()}, stepargs.MergeArgs{Job: uuid.New()}
	failed := errors.New("rolled back")
	require.ErrorIs(t, s.Control(t.Context(), func(tx pgx.Tx) error {
		require.NoError(t, q.Enqueue(t.Context(), tx, lost))
		return failed
	}), failed)
	enqueue(t, s, q, kept)
	r := &recorder{}
	work(t, q, r, queue.Options{ServerID: "one"})
	testenv.Eventually(t, func() bool { return r.count(kept) == 1 }, "the other one is worked")
	require.Zero(t, r.count(lost))
}

func TestAStepThatFailsIsTriedAgain(t *testing.T) {
	t.Parallel()
	s, q := open(t)
	step := stepargs.MergeArgs{Job: uuid.New()}
	r := &recorder{}
	tries := 0
	r.do = func(_ context.Context, args any) error {
		r.mu.Lock()
		defer r.mu.Unlock()
		if args == any(step) {
			tries++
			if tries == 1 {
				panic("a fault of ours")
			}
			if tries == 2 {
				return errors.New("the database is away")
			}
		}
		return nil
	}
	enqueue(t, s, q, step)
	work(t, q, r, queue.Options{ServerID: "one"})
	testenv.Eventually(t, func() bool { return completed(t, s.Pool, step.Kind()) == 1 }, "the third try works")
	require.Equal(t, 3, r.count(step))
	var most int
	require.NoError(t, s.Pool.QueryRow(t.Context(), "select max_attempts from river.river_job where kind = $1", step.Kind()).Scan(&most))
	require.Equal(t, 10_000, most, "a step is never given up while anybody remembers it")
}

// TestAStepThatIsCutOffByAStopHasNotFailed: it goes back to the queue at once, and nothing is logged as an error.
func TestAStepThatIsCutOffByAStopHasNotFailed(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	var said bytes.Buffer
	q, err := queue.New(s.Pool, slog.New(slog.NewTextHandler(&said, &slog.HandlerOptions{Level: slog.LevelError})))
	require.NoError(t, err)
	step := stepargs.MergeArgs{Job: uuid.New()}
	r, begun := &recorder{}, make(chan struct{})
	r.do = func(ctx context.Context, args any) error {
		if args != any(step) {
			return nil
		}
		close(begun)
		<-ctx.Done()
		return fmt.Errorf("merging: %w", ctx.Err())
	}
	enqueue(t, s, q, step)
	stop := work(t, q, r, queue.Options{ServerID: "one"})
	<-begun
	stop()
	require.Empty(t, said.String())
	var state string
	var failures int
	require.NoError(t, s.Pool.QueryRow(t.Context(), "select state, coalesce(array_length(errors, 1), 0) from river.river_job where kind = $1", step.Kind()).Scan(&state, &failures))
	require.Equal(t, "available", state)
	require.Zero(t, failures)
}

func completed(t *testing.T, pool *pgxpool.Pool, kind string) (n int) {
	t.Helper()
	require.NoError(t, pool.QueryRow(t.Context(), "select count(*) from river.river_job where kind = $1 and state = 'completed'", kind).Scan(&n))
	return n
}

// orphan makes a step that a server was running when it died. seen says how long ago the server was last heard of.
func orphan(t *testing.T, s *store.Store, q *queue.Queue, server, seen string, step functions.Step) {
	t.Helper()
	enqueue(t, s, q, step)
	_, err := s.Pool.Exec(t.Context(), `update river.river_job set state = 'running', attempt = 1, attempted_at = now(), attempted_by = array['before', $1] where kind = $2`, server, step.Kind())
	require.NoError(t, err)
	if seen == "" {
		return
	}
	_, err = s.Pool.Exec(t.Context(), `insert into ostraka.servers (id, seen_at) values ($1, now() - $2::interval)`, server, seen)
	require.NoError(t, err)
}

func TestStepsOfDeadServersAreAdopted(t *testing.T) {
	t.Parallel()
	s, q := open(t)
	silent, forgotten, own := stepargs.MergeArgs{Job: uuid.New()}, stepargs.FinishArgs{Job: uuid.New()}, stepargs.SplitArgs{Job: uuid.New()}
	alive := stepargs.CancelArgs{Job: uuid.New()}
	orphan(t, s, q, "silent", "1 minute", silent)
	orphan(t, s, q, "forgotten", "", forgotten)
	orphan(t, s, q, "one", "1 second", own) // an earlier life of this very server
	orphan(t, s, q, "alive", "-1 hour", alive)
	r := &recorder{}
	work(t, q, r, queue.Options{ServerID: "one"})
	testenv.Eventually(t, func() bool { return r.count(silent) == 1 && r.count(forgotten) == 1 && r.count(own) == 1 }, "the orphans are worked")
	require.Zero(t, r.count(alive), "a server that is alive keeps its steps")
}

// TestAStepThatNeverArrivedIsWorked has Postgres believe that a step runs on a server which never heard of it, as it does when it dies
// between handing the step out and answering.
func TestAStepThatNeverArrivedIsWorked(t *testing.T) {
	t.Parallel()
	s, q := open(t)
	first, lost := stepargs.MergeArgs{Job: uuid.New()}, stepargs.FinishArgs{Job: uuid.New()}
	r := &recorder{}
	work(t, q, r, queue.Options{ServerID: "one"})
	enqueue(t, s, q, first)
	testenv.Eventually(t, func() bool { return r.count(first) == 1 }, "the server works")
	require.NoError(t, s.Control(t.Context(), func(tx pgx.Tx) error {
		if err := q.Enqueue(t.Context(), tx, lost); err != nil {
			return err
		}
		_, err := tx.Exec(t.Context(), `update river.river_job set state = 'running', attempt = 1, attempted_at = now() - interval '1 minute', attempted_by = array['one'] where kind = $1`, lost.Kind())
		return err
	}))
	testenv.Eventually(t, func() bool { return r.count(lost) == 1 }, "the lost step is worked")
}

// TestWorkersAreToldOfEachStep, also of one that is enqueued a moment after another one: what they are not told of waits for a second. One
// tells of steps by River's channel.
func TestWorkersAreToldOfEachStep(t *testing.T) {
	t.Parallel()
	s, q := open(t)
	conn, err := s.Pool.Acquire(t.Context())
	require.NoError(t, err)
	defer conn.Release()
	_, err = conn.Exec(t.Context(), `listen "river.river_insert"`)
	require.NoError(t, err)
	for range 5 {
		enqueue(t, s, q, stepargs.MergeArgs{Job: uuid.New()})
		_, err := conn.Conn().WaitForNotification(t.Context())
		require.NoError(t, err)
		for told := time.Now(); time.Since(told) <= queue.TellCooldown; { // which is too short to be waited for otherwise
			runtime.Gosched()
		}
	}
}

// TestAStepThatAnotherClockPutOffIsWorked has steps wait that a server put off whose clock was an hour ahead, as a snoozed one and as one that
// has failed. Steps that wait for as long as they may go on waiting.
func TestAStepThatAnotherClockPutOffIsWorked(t *testing.T) {
	t.Parallel()
	s, q := open(t)
	snoozed, failed := stepargs.MergeArgs{Job: uuid.New()}, stepargs.FinishArgs{Job: uuid.New()}
	patient, tried, once := stepargs.CancelArgs{Job: uuid.New()}, stepargs.SplitArgs{Job: uuid.New()}, stepargs.EraseArgs{Job: uuid.New()}
	later := func(step functions.Step, state, pause string, failures int) {
		require.NoError(t, s.Control(t.Context(), func(tx pgx.Tx) error {
			if err := q.Enqueue(t.Context(), tx, step); err != nil {
				return err
			}
			_, err := tx.Exec(t.Context(), `update river.river_job set state = $2::river.river_job_state, scheduled_at = now() + $3::interval,
				errors = array_fill('{}'::jsonb, array[$4::int]) where kind = $1`, step.Kind(), state, pause, failures)
			return err
		}))
	}
	later(snoozed, "scheduled", "1 hour", 0)
	later(failed, "retryable", "1 hour", 2)
	later(patient, "scheduled", "110 seconds", 0)
	later(tried, "retryable", "5 minutes", 9)
	later(once, "scheduled", "1 hour", 0)
	r := &recorder{}
	work(t, q, r, queue.Options{ServerID: "one"})
	testenv.Eventually(t, func() bool { return r.count(snoozed) == 1 && r.count(failed) == 1 }, "steps that were put off too far are worked")
	var waiting int
	require.NoError(t, s.Pool.QueryRow(t.Context(), "select count(*) from river.river_job where kind = any($1) and scheduled_at > now()",
		[]string{patient.Kind(), tried.Kind(), once.Kind()}).Scan(&waiting))
	require.Equal(t, 3, waiting)
}

func TestAServerThatStopsLetsItsStepsGo(t *testing.T) {
	t.Parallel()
	s, q := open(t)
	step := stepargs.MergeArgs{Job: uuid.New()}
	enqueue(t, s, q, step)
	first := &recorder{do: func(ctx context.Context, _ any) error {
		<-ctx.Done() // a long step, cut off
		return ctx.Err()
	}}
	stop := work(t, q, first, queue.Options{ServerID: "one", Queues: []string{queue.QueueAggregate}})
	testenv.Eventually(t, func() bool { return first.count(step) == 1 }, "the step begins")
	stop()
	second := &recorder{}
	work(t, q, second, queue.Options{ServerID: "two"})
	testenv.Eventually(t, func() bool { return second.count(step) == 1 }, "another server works it")
	require.NoError(t, q.Work(canceled(), second, queue.Options{ServerID: "three"}))
	require.ErrorContains(t, q.Work(t.Context(), second, queue.Options{ServerID: "x", Queues: []string{"nothing"}}), "nothing")
}

func canceled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// TestBulkActionsKeepNothingWaiting holds every worker of the queue bulk.
func TestBulkActionsKeepNothingWaiting(t *testing.T) {
	t.Parallel()
	s, q := open(t)
	for range 50 {
		enqueue(t, s, q, stepargs.BulkArgs{Bulk: uuid.New()})
	}
	var running, most atomic.Int32
	r := &recorder{do: func(ctx context.Context, step any) error {
		if _, ok := step.(stepargs.BulkArgs); ok {
			most.Store(max(most.Load(), running.Add(1)))
			defer running.Add(-1)
			<-ctx.Done()
		}
		return nil
	}}
	work(t, q, r, queue.Options{ServerID: "one", Queues: []string{queue.QueueControl}})
	split := stepargs.SplitArgs{Project: uuid.New()}
	testenv.Eventually(t, func() bool { return running.Load() == 2 }, "two are worked at once")
	enqueue(t, s, q, split)
	testenv.Eventually(t, func() bool { return r.count(split) == 1 }, "a job is split")
	require.EqualValues(t, 2, most.Load())
}

func TestTheAdminInterfaceShowsTheSteps(t *testing.T) {
	t.Parallel()
	s, q := open(t)
	enqueue(t, s, q, stepargs.MergeArgs{Job: uuid.New()})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ui, err := q.UI(ctx, "/ops/river")
	require.NoError(t, err)
	for path, want := range map[string]string{"/ops/river/": "<html", "/ops/river/api/jobs?state=available&limit=10": `"kind":"merge"`} {
		answer := httptest.NewRecorder()
		ui.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
		require.Equal(t, http.StatusOK, answer.Code, path)
		require.Contains(t, answer.Body.String(), want, path)
	}
}

// TestWhatProtectsWaitsForNoOtherWork holds every worker of the queue control.
func TestWhatProtectsWaitsForNoOtherWork(t *testing.T) {
	t.Parallel()
	s, q := open(t)
	for range 50 {
		enqueue(t, s, q, stepargs.SplitArgs{Project: uuid.New()})
	}
	r := &recorder{do: func(ctx context.Context, step any) error {
		if _, ok := step.(stepargs.SplitArgs); ok {
			<-ctx.Done()
		}
		return nil
	}}
	work(t, q, r, queue.Options{ServerID: "one", Queues: []string{queue.QueueControl}}) // as it was written when there was no other
	revoke, taint := stepargs.RevokeArgs{Agent: uuid.New()}, stepargs.TaintArgs{Agent: uuid.New()}
	many := stepargs.BulkArgs{Bulk: uuid.New()}
	enqueue(t, s, q, revoke, taint, many)
	testenv.Eventually(t, func() bool { return r.count(revoke) == 1 && r.count(taint) == 1 }, "what protects is worked")
	testenv.Eventually(t, func() bool { return r.count(many) == 1 }, "and so is what people have chosen, in a queue that was not named")
	testenv.Eventually(t, func() bool { return r.count(stepargs.ExpireArgs{}) >= 2 }, "leases are expired")
}

// TestPeriodicStepsAreTriedAgain has them fail as they do while the database is away.
func TestPeriodicStepsAreTriedAgain(t *testing.T) {
	t.Parallel()
	s, q := open(t)
	var expired atomic.Int32
	r := &recorder{do: func(_ context.Context, step any) error {
		if _, ok := step.(stepargs.ExpireArgs); ok && expired.Add(1) == 1 {
			return errors.New("the database is away")
		}
		return nil
	}}
	work(t, q, r, queue.Options{ServerID: "one"})
	testenv.Eventually(t, func() bool { return expired.Load() >= 3 }, "the step goes on")
	var discarded, failed int
	require.NoError(t, s.Pool.QueryRow(t.Context(), `select count(*) filter (where state = 'discarded'), count(*) filter (where errors is not null)
		from river.river_job where kind = $1`, stepargs.ExpireArgs{}.Kind()).Scan(&discarded, &failed))
	require.Zero(t, discarded, "nothing looks like lost work")
	require.Equal(t, 1, failed, "the step that failed was tried again, and none beside it")
}
