package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/bench/rig"
	"github.com/ostraka/ostraka/client"
)

const (
	// jobFaults is how many faults one job has: one in each stretch of its shards.
	jobFaults = 20
	// endLimit is how long a job may take to end after its last fault. It says "never" on any machine.
	endLimit = 6 * time.Minute
	// stretchLimit is how long a job may take from one fault to the next. Past it the next one comes all the same, and says so: faults may
	// fall together.
	stretchLimit = time.Minute
)

// options say what is broken, and how often.
type options struct {
	binary, only string
	module       string // where the program's sources are; empty: it is not built, and no clock is stepped
	faults       int
	shards       int64 // of a job
	seed         uint64
	containers   bool
	say          func(format string, args ...any)
}

// tally is what came of it.
type tally struct {
	jobs, faults, restarts int
	seconds                float64
	byKind                 map[string]int
}

func (t tally) print(w io.Writer) {
	for _, f := range faults() {
		if n := t.byKind[f.name]; n > 0 {
			fmt.Fprintf(w, "chaos_%s %d\n", f.name, n)
		}
	}
	fmt.Fprintf(w, "chaos_faults %d\nchaos_jobs_right %d\nchaos_agents_restarted %d\nchaos_seconds %.1f\n", t.faults, t.jobs, t.restarts, t.seconds)
}

// run breaks things until there were enough faults, in as many jobs as that takes.
func (o options) run(ctx context.Context) (t tally, err error) {
	begin := time.Now()
	t.byKind = map[string]int{}
	w, err := o.open(ctx)
	if err != nil {
		return t, err
	}
	defer func() {
		t.restarts = w.restarts()
		t.seconds = time.Since(begin).Seconds()
		err = errors.Join(err, w.close())
	}()
	random := rand.New(rand.NewPCG(o.seed, o.seed)) //nolint:gosec // that the same seed makes the same choices is the point
	possible, err := o.possible(w)
	if err != nil {
		return t, err
	}
	for t.faults < o.faults {
		n := min(jobFaults, o.faults-t.faults)
		if err := o.job(ctx, w, random, possible, n, &t); err != nil {
			return t, fmt.Errorf("seed %d, job %d, after %d faults: %w", o.seed, t.jobs+1, t.faults, errors.Join(err, errors.New(w.said())))
		}
		t.jobs++
	}
	return t, nil
}

// job runs a job, has n faults during it, and checks what it came to.
func (o options) job(ctx context.Context, w *world, random *rand.Rand, possible []fault, n int, t *tally) error {
	policy := client.PolicyRequest{Quorum: 2}
	if t.jobs%2 == 1 {
		policy = client.PolicyRequest{TargetError: 0.001}
	}
	id, err := w.submit(ctx, policy)
	if err != nil {
		return err
	}
	for i := range n {
		// The moments are spread over the job by its progress, and random within that.
		at := o.shards*int64(i)/int64(n+1) + random.Int64N(max(1, o.shards/int64(n+1)))
		reached := rig.Until(ctx, stretchLimit, func() bool { return w.accepted(ctx, id) >= at })
		if t.faults%len(possible) == 0 { // each has its turn
			random.Shuffle(len(possible), func(a, b int) { possible[a], possible[b] = possible[b], possible[a] })
		}
		f := possible[t.faults%len(possible)]
		if ctx.Err() != nil {
			return ctx.Err()
		}
		late := ""
		if !reached {
			late = ", the last one still being felt"
		}
		o.say("%3d after %d shards%s: %s", t.faults+1, w.accepted(ctx, id), late, f.name)
		if err := f.happen(ctx, w, random); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		t.faults++
		t.byKind[f.name]++
	}
	w.mended.Wait()
	if !rig.Until(ctx, endLimit, func() bool { return w.ended(ctx, id) }) {
		return fmt.Errorf("the job has not ended after %v: %s", endLimit, w.stuck(ctx, id))
	}
	return w.check(ctx, id)
}

// submit submits a job: two owners must agree, or the servers execute some shards again.
func (w *world) submit(ctx context.Context, policy client.PolicyRequest) (uuid.UUID, error) {
	r := rig.Range("sums", 10*w.shards, policy)
	r.Partition.Size = "10"
	return w.tenant.Submit(ctx, r)
}

// accepted is how far the job is; -1: nobody says, since a server or its database is away.
func (w *world) accepted(ctx context.Context, id uuid.UUID) int64 {
	if job := w.ask(ctx, id); job != nil {
		return job.Shards.Accepted
	}
	return -1
}

// ask asks one server after the other about the job: each may be stopped or away.
func (w *world) ask(ctx context.Context, id uuid.UUID) *client.Job {
	for _, s := range w.servers {
		asking, cancel := context.WithTimeout(ctx, askLimit)
		job := w.tenant.At(s).Job(asking, id, "")
		cancel()
		if job != nil {
			return job
		}
	}
	return nil
}

// ended says whether the job has ended.
func (w *world) ended(ctx context.Context, id uuid.UUID) bool {
	job := w.ask(ctx, id)
	return job != nil && (job.State == "finished" || job.State == "failed" || job.State == "cancelled")
}
