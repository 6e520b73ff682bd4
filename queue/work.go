package queue

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/dispatch"
	"github.com/ostraka/ostraka/functions/stepargs"
	"github.com/ostraka/ostraka/migrations"
)

// Steps are what the workers call; *engine.Service implements them.
type Steps interface {
	Split(ctx context.Context, args stepargs.SplitArgs) error
	Verify(ctx context.Context, args stepargs.VerifyArgs) error
	Compare(ctx context.Context, args stepargs.CompareArgs) error
	ScoreCode(ctx context.Context, args stepargs.ScoreCodeArgs) error
	ScoreResults(ctx context.Context, args stepargs.ScoreResultsArgs) error
	Aggregate(ctx context.Context, args stepargs.AggregateArgs) error
	Merge(ctx context.Context, args stepargs.MergeArgs) error
	Preview(ctx context.Context, args stepargs.PreviewArgs) error
	Refold(ctx context.Context, args stepargs.RefoldArgs) error
	Finish(ctx context.Context, args stepargs.FinishArgs) error
	Recheck(ctx context.Context, args stepargs.RecheckArgs) error
	CloseWindow(ctx context.Context, args stepargs.CloseWindowArgs) error
	Tail(ctx context.Context, args stepargs.TailArgs) error
	Finalise(ctx context.Context, args stepargs.FinaliseArgs) error
	Taint(ctx context.Context, args stepargs.TaintArgs) error
	ComparePlatforms(ctx context.Context, args stepargs.ComparePlatformsArgs) error
	ExcuseUnsteady(ctx context.Context, args stepargs.ExcuseUnsteadyArgs) error
	WeighClaims(ctx context.Context, args stepargs.ClaimsArgs) error
	JudgeControls(ctx context.Context, args stepargs.JudgeControlsArgs) error
	FollowUp(ctx context.Context, args stepargs.FollowUpArgs) error
	RunBulk(ctx context.Context, args stepargs.BulkArgs) error
	Cancel(ctx context.Context, args stepargs.CancelArgs) error
	Erase(ctx context.Context, args stepargs.EraseArgs) error
	Archive(ctx context.Context, args stepargs.ArchiveArgs) error
	Pack(ctx context.Context, args stepargs.PackArgs) error
	Receipt(ctx context.Context, args stepargs.ReceiptArgs) error
	Revoke(ctx context.Context, args stepargs.RevokeArgs) error
	Silence(ctx context.Context, args stepargs.SilenceArgs) error
	Expire(ctx context.Context, args stepargs.ExpireArgs) error
	Stranded(ctx context.Context, args stepargs.StrandedArgs) error
	ChargeTurns(ctx context.Context, args stepargs.ChargeTurnsArgs) error
	Collect(ctx context.Context, args stepargs.CollectArgs) error
	Retain(ctx context.Context, args stepargs.RetentionArgs) error
	Seal(ctx context.Context, args stepargs.SealArgs) error
	Due(ctx context.Context, args stepargs.DueSchedulesArgs) error
	Fire(ctx context.Context, args stepargs.FireScheduleArgs) error
	DueWebhooks(ctx context.Context, args stepargs.DueWebhooksArgs) error
	SpreadWebhooks(ctx context.Context, args stepargs.SpreadWebhooksArgs) error
	DeliverWebhook(ctx context.Context, args stepargs.DeliverWebhookArgs) error
	Advance(ctx context.Context, args stepargs.AdvanceRunArgs) error
	// Rechecks says whether this server can execute shards, and AnnounceRechecks tells the others until the context ends.
	Rechecks() bool
	AnnounceRechecks(ctx context.Context, server string)
}

const (
	// fetchCooldown bounds a queue's throughput to its workers divided by it (River's default of 100 ms would be too slow for verify).
	fetchCooldown = 10 * time.Millisecond
	// How long a step may take. A step that is cut off goes on where it was when it is tried again.
	shortStep = time.Minute
	longStep  = 15 * time.Minute
	noLimit   = -1 // executing shards has limits of its own, and the file of a large job takes as long as it takes
	// How often the periodic steps run.
	expireEvery = 2 * time.Second
	retainEvery = time.Hour
	// packEvery is short, since a run that finds nothing reads an index of each project.
	packEvery = time.Minute
	// collectEvery is short, since one run looks at few objects.
	collectEvery = 10 * time.Minute
	// dueEvery is how late a schedule is at most, where the queue has nothing else to do.
	dueEvery = 5 * time.Second
	// webhooksEvery is how long an event waits to be sent, where nothing else is to be sent.
	webhooksEvery = 2 * time.Second
	// sealEvery is how long a record of an audit log waits for its seal.
	sealEvery = 2 * time.Second
	// strandedEvery is how long a shard that no agent is left for waits for a person at most.
	strandedEvery = 10 * time.Second
	// softStop is how long running steps may continue after the server was told to stop.
	softStop = 5 * time.Second
)

// workers is how many steps of a queue run at once: verify waits for Postgres most of the time, modules have a bound of their own.
func workers(queue string) int {
	switch queue {
	case QueueUrgent:
		return 4
	case QueueVerify:
		return 8
	case QueueAggregate:
		return 4
	case QueueArchive: // each holds as much of a file as a row group, and waiting is fine
		return 2
	case QueueBulk: // they wait for each other in the order of their turns
		return 2
	case QueueWebhooks: // they wait for others' servers, each for some seconds at most
		return 16
	case QueueRecheck: // most of them wait for their project's turn: what runs at once is bounded there
		return 32
	default:
		return 8
	}
}

// Options say what a server works.
type Options struct {
	ServerID string   // unique among the servers that are alive
	Queues   []string // empty: all that this server has the means for
}

// Work works the queues until the context ends, and returns when the running steps have stopped.
func (q *Queue) Work(ctx context.Context, steps Steps, o Options) error {
	queues := o.Queues
	if len(queues) == 0 {
		queues = All()
		if !steps.Rechecks() { // others have to
			queues = slices.DeleteFunc(queues, func(name string) bool { return name == QueueRecheck })
		}
	}
	config := map[string]river.QueueConfig{}
	if slices.Contains(queues, QueueControl) { // set-ups that are older than these queues go on protecting, and do what people have chosen
		for _, name := range []string{QueueUrgent, QueueBulk} {
			if !slices.Contains(queues, name) {
				queues = append(slices.Clone(queues), name)
			}
		}
	}
	for _, name := range queues {
		if !slices.Contains(All(), name) {
			return fmt.Errorf("there is no queue %q: choose from %v", name, All())
		}
		config[name] = river.QueueConfig{MaxWorkers: workers(name)}
	}
	working := &executing{ids: map[int64]bool{}}
	client, err := river.NewClient(riverpgxv5.New(q.pool), &river.Config{
		ID: o.ServerID, Schema: migrations.RiverSchema, Logger: newCalm(ctx, q.log), Queues: config, Workers: register(steps, working),
		FetchCooldown: fetchCooldown, JobTimeout: shortStep, MaxAttempts: maxAttempts, RetryPolicy: retryPolicy{},
		PeriodicJobs: periodic(), SoftStopTimeout: softStop,
	})
	if err != nil {
		return fmt.Errorf("making the workers' client: %w", err)
	}
	if err := q.takeOver(ctx, o.ServerID); err != nil {
		if ctx.Err() != nil {
			return nil // told to stop before it began
		}
		return err
	}
	if err := client.Start(ctx); err != nil {
		return fmt.Errorf("starting the workers: %w", err)
	}
	stopOrphans := q.watchOrphans(ctx, o.ServerID, working)
	defer stopOrphans()
	if slices.Contains(queues, QueueRecheck) {
		announcing, stop := context.WithCancel(ctx)
		var done sync.WaitGroup
		done.Go(func() { steps.AnnounceRechecks(announcing, o.ServerID) })
		defer func() { stop(); done.Wait() }()
	}
	<-client.Stopped()
	if err := ctx.Err(); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// worker calls one step.
type worker[A river.JobArgs] struct {
	river.WorkerDefaults[A]
	step    func(context.Context, A) error
	timeout time.Duration
	working *executing
}

// Work calls the step.
func (w *worker[A]) Work(ctx context.Context, job *river.Job[A]) error {
	defer w.working.begin(job.ID)()
	err := w.step(ctx, job.Args)
	var later *functions.Snooze
	switch {
	case errors.Is(err, functions.ErrJobDeleted): // nothing is left to do
		return nil
	case errors.As(err, &later):
		return river.JobSnooze(later.For)
	case err != nil && errors.Is(err, context.Canceled) && errors.Is(context.Cause(ctx), context.Canceled):
		return river.JobSnooze(0) // the server stops: the step has not failed, and another server takes it up
	}
	return err
}

// Timeout is how long the step may take.
func (w *worker[A]) Timeout(*river.Job[A]) time.Duration { return w.timeout }

func add[A river.JobArgs](to *river.Workers, working *executing, step func(context.Context, A) error, timeout time.Duration) {
	river.AddWorker(to, &worker[A]{step: step, timeout: timeout, working: working})
}

func register(steps Steps, working *executing) *river.Workers {
	w := river.NewWorkers()
	add(w, working, steps.Split, longStep)
	add(w, working, steps.Verify, shortStep)
	add(w, working, steps.Compare, longStep)
	add(w, working, steps.ScoreCode, longStep)
	add(w, working, steps.ScoreResults, longStep)
	add(w, working, steps.Aggregate, longStep)
	add(w, working, steps.Merge, longStep)
	add(w, working, steps.Preview, longStep)
	add(w, working, steps.Refold, shortStep)
	add(w, working, steps.Finish, shortStep)
	add(w, working, steps.Recheck, noLimit)
	add(w, working, steps.CloseWindow, shortStep)
	add(w, working, steps.Tail, shortStep)
	add(w, working, steps.Finalise, longStep)
	add(w, working, steps.Taint, longStep)
	add(w, working, steps.ComparePlatforms, shortStep)
	add(w, working, steps.ExcuseUnsteady, shortStep)
	add(w, working, steps.WeighClaims, shortStep)
	add(w, working, steps.JudgeControls, longStep)
	add(w, working, steps.FollowUp, longStep)
	add(w, working, steps.RunBulk, longStep)
	add(w, working, steps.Cancel, longStep)
	add(w, working, steps.Erase, longStep)
	add(w, working, steps.Archive, noLimit)
	add(w, working, steps.Pack, longStep)
	add(w, working, steps.Receipt, longStep)
	add(w, working, steps.Revoke, shortStep)
	add(w, working, steps.Silence, longStep)
	add(w, working, steps.Expire, shortStep)
	add(w, working, steps.Stranded, longStep)
	add(w, working, steps.ChargeTurns, shortStep)
	add(w, working, steps.Collect, longStep)
	add(w, working, steps.Retain, longStep)
	add(w, working, steps.Seal, longStep)
	add(w, working, steps.Due, shortStep)
	add(w, working, steps.Fire, longStep)
	add(w, working, steps.DueWebhooks, shortStep)
	add(w, working, steps.SpreadWebhooks, longStep)
	add(w, working, steps.DeliverWebhook, shortStep)
	add(w, working, steps.Advance, longStep)
	return w
}

// periodic makes the steps that run without a request. A run that is still waiting, or that is to be tried again, makes the next one unnecessary.
func periodic() []*river.PeriodicJob {
	every := func(pause time.Duration, step functions.Step) *river.PeriodicJob {
		return river.NewPeriodicJob(river.PeriodicInterval(pause), func() (river.JobArgs, *river.InsertOpts) {
			return step, &river.InsertOpts{Queue: queueOf(step), UniqueOpts: river.UniqueOpts{ByQueue: true, ByState: []rivertype.JobState{
				rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRunning, rivertype.JobStateScheduled, rivertype.JobStateRetryable,
			}}}
		}, &river.PeriodicJobOpts{RunOnStart: true})
	}
	return []*river.PeriodicJob{
		every(expireEvery, stepargs.ExpireArgs{}), every(strandedEvery, stepargs.StrandedArgs{}), every(retainEvery, stepargs.RetentionArgs{}),
		every(sealEvery, stepargs.SealArgs{}), every(dispatch.TurnTime, stepargs.ChargeTurnsArgs{}), every(collectEvery, stepargs.CollectArgs{}),
		every(dueEvery, stepargs.DueSchedulesArgs{}), every(webhooksEvery, stepargs.DueWebhooksArgs{}),
		every(packEvery, stepargs.PackArgs{}),
	}
}

// retryPolicy tries a failed step again after a second, then two, four and so on up to five minutes, with some jitter: most failures
// are a database that restarts.
type retryPolicy struct{}

const (
	firstPause   = time.Second
	longestPause = 5 * time.Minute
	// longestPeriodicPause is longestPause for steps that would have run again by themselves: what they protect does not wait.
	longestPeriodicPause = 10 * time.Second
)

// longest is the longest pause before a step is tried again.
func longest(kind string) time.Duration {
	switch kind {
	case stepargs.ExpireArgs{}.Kind(), stepargs.StrandedArgs{}.Kind(), stepargs.RetentionArgs{}.Kind(), stepargs.ChargeTurnsArgs{}.Kind(),
		stepargs.DueSchedulesArgs{}.Kind(), stepargs.DueWebhooksArgs{}.Kind():
		return longestPeriodicPause
	default:
		return longestPause
	}
}

// NextRetry is when a step that has failed runs again.
func (retryPolicy) NextRetry(job *rivertype.JobRow) time.Time {
	pause := longest(job.Kind)
	if n := len(job.Errors); n < 9 {
		pause = min(firstPause<<n, pause)
	}
	jitter := time.Duration(rand.Int64N(int64(pause/4) + 1)) //nolint:gosec // spreads load, protects nothing
	return time.Now().Add(pause + jitter)
}
