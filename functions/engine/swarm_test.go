package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/dispatch"
	"github.com/ostraka/ostraka/testenv"
)

// TestASwarm has eight agents at once, with leases that die under them, returns, duplicates and a liar, against two servers. The
// aggregate must be exact all the same.
func TestASwarm(t *testing.T) {
	t.Parallel()
	for quorum, shards := range map[int]int64{2: 3000, 3: 1200} {
		t.Run(fmt.Sprint("quorum ", quorum), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, shortLeases)
			w.work("one", "two")
			job := w.submit(shards, func(j *functions.NewJob) { j.Quorum = quorum })
			w.runWild(job, 8)
			require.Equal(t, shards, w.count("select count(*) from shards where state = 'accepted'"))
		})
	}
}

// runWild has wild agents, the first of which lies, finish a job over a range. The books are in order at every moment, none waits for another
// in a circle, and the answer is right.
func (w *world) runWild(job functions.Job, agents int) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	var all sync.WaitGroup
	for i := range agents {
		answer := honest
		if i == 0 {
			answer = liar
		}
		a := w.agent(answer)
		for poll := range 2 { // each agent polls twice at once
			wild := wildAgent{agent: a, random: rand.New(rand.NewPCG(uint64(i), uint64(poll)))}
			all.Go(func() {
				if err := wild.run(ctx); err != nil {
					w.t.Errorf("agent %d: %v", i, err)
				}
			})
		}
	}
	testenv.Eventually(w.t, func() bool {
		w.check(job.ID)
		return w.job(job.ID).State.Ended()
	}, "the job ends")
	cancel()
	all.Wait()
	done := w.job(job.ID)
	require.Equal(w.t, functions.JobFinished, done.State, done.Error)
	requireTruth(w.t, done, truth(rangeOf(job.Shards.Total)))
	w.check(job.ID)
	require.Zero(w.t, w.count("select deadlocks from pg_stat_database where datname = current_database()"), "all steps lock in one order")
}

// wildAgent does all that agents on bad networks and bad machines do.
type wildAgent struct {
	*agent
	random *rand.Rand
}

func (a wildAgent) run(ctx context.Context) error {
	for ctx.Err() == nil {
		lease, err := a.Lease(ctx, 1+a.random.IntN(200), time.Second)
		if err == nil && lease != nil {
			err = a.treat(ctx, lease)
		}
		if err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

func (a wildAgent) treat(ctx context.Context, lease *functions.Lease) error {
	results := a.results(lease.Shards)
	cut := a.random.IntN(len(results) + 1)
	switch a.random.IntN(8) {
	case 0: // it dies; the server finds out
		return nil
	case 1:
		return a.w.ReturnLease(ctx, a.id, lease.ID)
	case 2: // it reports some, and returns the rest
		if err := a.record(ctx, lease, results[:cut]); err != nil {
			return err
		}
		return a.w.ReturnLease(ctx, a.id, lease.ID)
	case 3: // two connections send at once
		var all sync.WaitGroup
		errs := make([]error, 2)
		for i := range errs {
			all.Go(func() { errs[i] = a.record(ctx, lease, results) })
		}
		all.Wait()
		return errors.Join(errs...)
	case 4: // in two parts, the first of them again with the second
		if err := a.record(ctx, lease, results[:cut]); err != nil {
			return err
		}
		return a.record(ctx, lease, results)
	default:
		return a.record(ctx, lease, results)
	}
}

func (a wildAgent) record(ctx context.Context, lease *functions.Lease, results []functions.Result) error {
	if len(results) == 0 {
		return nil
	}
	_, err := a.w.Record(ctx, a.id, lease.ID, a.sign(lease.ID, results))
	if lostLease(err) {
		return nil
	}
	if half := len(results) / 2; errors.Is(err, dispatch.ErrRepeats) { // as agents do
		if err := a.record(ctx, lease, results[:half]); err != nil {
			return err
		}
		return a.record(ctx, lease, results[half:])
	}
	return err
}
