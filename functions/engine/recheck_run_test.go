package engine_test

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/engine"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/functions/verify"
	"github.com/ostraka/ostraka/runtime/recheck"
	"github.com/ostraka/ostraka/testenv"
)

func allRechecked(j *functions.NewJob) { j.Quorum, j.Recheck = 0, verify.RecheckAll }

// hearing has the world's requests hear of notifications, while steps are run one by one.
func (w *world) hearing() {
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	done.Go(func() { w.options.Notices.Run(ctx, w.store.Pool, w.options.Log) })
	w.t.Cleanup(func() { cancel(); done.Wait() })
}

// rechecksOf are the steps that wait to execute shards of a project.
func (w *world) rechecksOf(project uuid.UUID) (list []waiting) {
	for _, s := range w.steps() {
		if s.Kind == (stepargs.RecheckArgs{}).Kind() && argsOf[stepargs.RecheckArgs](w, s).Project == project {
			list = append(list, s)
		}
	}
	return list
}

// argsOf are a step's arguments.
func argsOf[A any](w *world, s waiting) (args A) {
	w.t.Helper()
	require.NoError(w.t, json.Unmarshal(s.Args, &args))
	return args
}

// settleBut runs all that waits but rechecks.
func (w *world) settleBut() {
	w.t.Helper()
	for again := true; again; {
		again = false
		for _, s := range w.steps() {
			if s.Kind != (stepargs.RecheckArgs{}).Kind() {
				again = true
				w.once(s)
				w.done(s)
			}
		}
	}
}

// reported is a job of which all shards are reported and wait for the server.
func (w *world) reported(shards int64, change ...func(*functions.NewJob)) functions.Job {
	w.t.Helper()
	job := w.submit(shards, append([]func(*functions.NewJob){allRechecked}, change...)...)
	w.settleBut()
	a := w.agent(honest)
	for a.do(int(shards)) > 0 {
		w.settleBut()
	}
	require.Equal(w.t, shards, w.count("select count(*) from rechecks where job_id = $1", job.ID))
	return job
}

// TestWhatIsSwitchedOffEndsOnTheServerToo puts a switch on while the server executes a shard of what it holds, and cancels a job.
func TestWhatIsSwitchedOffEndsOnTheServerToo(t *testing.T) {
	t.Parallel()
	begun, ended := make(chan struct{}, 1), make(chan error, 1)
	c := &court{during: func(ctx context.Context, _ recheck.Batch) error {
		begun <- struct{}{}
		<-ctx.Done()
		return context.Cause(ctx)
	}}
	w := newWorld(t, withCourt(c))
	w.hearing()
	w.opened()
	job := w.reported(3)
	begin := func() {
		t.Helper()
		steps := w.rechecksOf(w.project)
		require.Len(t, steps, 1)
		go func() {
			err := w.turn(steps[0])
			w.done(steps[0])
			ended <- err
		}()
		<-begun
	}
	begin()
	status := w.kill(w.function("numbers", 0))
	require.False(t, status.Silent)
	require.Len(t, status.Running, 1, "it runs on the server")
	require.Equal(t, job.ID, status.Running[0].Job)
	require.NoError(t, <-ended, "nobody has failed")
	w.sql("update ostraka.agents set last_seen_at = now() - interval '1 hour'") // the agent is away
	silent, err := w.WaitSilent(t.Context(), uuid.Nil, status.ID, time.Minute)
	require.NoError(t, err)
	require.True(t, silent.Silent, "%+v", silent)
	require.Empty(t, silent.Running)

	// Nothing of it is taken up while the switch is on, and no step goes round and round.
	w.settleAll()
	require.NoError(t, w.Stranded(t.Context(), stepargs.StrandedArgs{}))
	require.Empty(t, w.rechecksOf(w.project))
	require.Equal(t, int64(3), w.count("select count(*) from rechecks where batch is null"))
	require.True(t, w.release(w.function("numbers", 0)))
	require.NoError(t, w.Stranded(t.Context(), stepargs.StrandedArgs{}))

	// A job that is cancelled ends there, too.
	begin()
	_, err = w.CancelJob(t.Context(), w.by, w.project, job.ID)
	require.NoError(t, err)
	require.NoError(t, <-ended)
	w.settleAll()
	w.requireQuiet()
	var running int
	require.NoError(t, w.store.Pool.QueryRow(t.Context(), "select count(*) from ostraka.recheck_runs").Scan(&running))
	require.Zero(t, running)
}

// TestABatchLeavesItsTurnToOthers has a project with shards that last beside another one: after each of them it is the other's turn, also
// where each is executed twice, and all of both are settled.
func TestABatchLeavesItsTurnToOthers(t *testing.T) {
	t.Parallel()
	var order []uuid.UUID
	c := &court{}
	c.during = func(_ context.Context, b recheck.Batch) error {
		c.set(func(*court) { order = append(order, b.Project) })
		return nil
	}
	w := newWorld(t, withCourt(c), func(o *engine.Options) { o.RecheckSlice = time.Nanosecond })
	w.hearing()
	w.opened()
	wrong := w.submit(4, allRechecked)
	w.settleBut()
	liar := w.agent(says(`{"n":1,"sum":"7"}`))
	for liar.do(4) > 0 {
		w.settleBut()
	}
	turns := w.Turns()
	require.NoError(t, turns.Take(t.Context(), uuid.New(), false)) // who keeps the slot that is always left
	other := uuid.New()
	require.NoError(t, turns.Take(t.Context(), other, false)) // as a batch of another project does
	var over atomic.Bool
	var done sync.WaitGroup
	done.Go(func() { w.settleAll(); over.Store(true) })
	rounds := 0
	for {
		testenv.Eventually(t, func() bool { return over.Load() || turns.Wanted(other, false) }, "the batch waits for its turn")
		if over.Load() {
			break
		}
		again := make(chan error, 1)
		go func() { again <- turns.Take(t.Context(), other, false) }()
		testenv.Eventually(t, func() bool { return turns.Waiting(other, false) == 1 }, "another project wants it")
		turns.Give(other, false)
		require.NoError(t, <-again, "a batch gives its slot back")
		rounds++
	}
	done.Wait()
	require.Len(t, order, rounds, "one shard in each turn")
	require.Greater(t, rounds, 2)
	w.requireQuiet()
	w.check(wrong.ID)
}

// TestAShardThatTakesAllItsTimeIsExecutedOnce by the server: it is not given as much once more.
func TestAShardThatTakesAllItsTimeIsExecutedOnce(t *testing.T) {
	t.Parallel()
	c := &court{answer: func(string, uint32) functions.Result { return functions.Result{Status: string(verify.Timeout)} }}
	w := newWorld(t, withCourt(c))
	w.opened()
	w.reported(1)
	steps := w.rechecksOf(w.project)
	require.NoError(t, w.step(steps[0]))
	require.Equal(t, 1, c.executed)
}

// TestFunctionsThatMayTakeLongHaveTheirLane has their batches wait while those of others are executed.
func TestFunctionsThatMayTakeLongHaveTheirLane(t *testing.T) {
	t.Parallel()
	c := &court{}
	w := newWorld(t, withCourt(c))
	w.opened()
	w.pushFunction("limit", "[limits]\nwall_seconds = 300")
	w.pushFunction("long", "[limits]\nwall_seconds = 301")
	w.reported(2, func(j *functions.NewJob) { j.Function = "limit" })
	w.reported(2, func(j *functions.NewJob) { j.Function = "long" })
	lanes := map[bool]int{}
	for _, s := range w.rechecksOf(w.project) {
		lanes[argsOf[stepargs.RecheckArgs](w, s).Long]++
	}
	require.Equal(t, map[bool]int{false: 1, true: 1}, lanes)
	require.NoError(t, w.Turns().Take(t.Context(), uuid.New(), true))
	for _, s := range w.rechecksOf(w.project) {
		if !argsOf[stepargs.RecheckArgs](w, s).Long {
			require.NoError(t, w.step(s))
			w.done(s)
		}
	}
	require.Equal(t, 2, c.executed)
	require.Equal(t, int64(2), w.count("select count(*) from rechecks where long"))
}

// TestAgentsAreAskedWhereTheServerHasNoTimeForAProject: it is there, and has had no results for it for long.
func TestAgentsAreAskedWhereTheServerHasNoTimeForAProject(t *testing.T) {
	t.Parallel()
	c := &court{}
	w := newWorld(t, withCourt(c))
	w.opened()
	job := w.submit(40, bounded(1e-3))
	w.settleBut()
	first := w.stranger("first", honest)
	for first.do(40) > 0 {
		w.settleBut()
	}
	asked := w.count("select count(*) from rechecks")
	require.Positive(t, asked)
	stranded := func() int64 {
		t.Helper()
		require.NoError(t, w.Stranded(t.Context(), stepargs.StrandedArgs{}))
		return w.count("select count(*) from rechecks")
	}
	require.Equal(t, asked, stranded(), "it was asked a moment ago")
	w.exec("insert into recheck_progress values (false, now())")
	w.exec("update rechecks set asked_at = asked_at - $1::interval", functions.RecheckerGone)
	require.Equal(t, asked, stranded(), "the server goes through what it was asked for")
	w.exec("update recheck_progress set at = at - $1::interval", functions.RecheckerGone)
	require.Zero(t, stranded())
	w.settleAll()
	others := []*agent{first, w.stranger("second", honest), w.stranger("third", honest), w.stranger("fourth", honest), w.stranger("fifth", honest)}
	done := w.workOff(job, 40, others...)
	require.Equal(t, functions.JobFinished, done.State, "%+v", done)
	requireTruth(t, done, truth(rangeOf(40)))
}

// TestNoClaimedTimeIsLongerThanTheFunctionMayTake: batches of rechecks are sized by it.
func TestNoClaimedTimeIsLongerThanTheFunctionMayTake(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.submit(1, func(j *functions.NewJob) { j.Quorum = 1 })
	w.settleAll()
	a := w.agent(func(input string) functions.Result {
		r := honest(input)
		r.WallMicros = 1<<63 - 1
		return r
	})
	require.Equal(t, 1, a.do(1))
	require.Equal(t, int64(120_000_000), w.count("select max(wall_us) from attempts"))
}
