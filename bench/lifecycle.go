package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/ostraka/ostraka/client"
)

// lifecycle compares shards/s through everything (HTTP, leases, signed results, verification, aggregation) with the same in plain SQL,
// on the same Postgres. The raw way runs before and after, so that a machine that changes its mind is not held against anyone.
func (b *bench) lifecycle(ctx context.Context) ([]figure, error) {
	before, err := b.rawLifecycle(ctx)
	if err != nil {
		return nil, err
	}
	job, err := b.job(ctx, b.shards)
	if err != nil {
		return nil, err
	}
	after, err := b.rawLifecycle(ctx)
	if err != nil {
		return nil, err
	}
	byDefault, err := b.verified(ctx, max(b.shards/5, 1))
	if err != nil {
		return nil, err
	}
	raw, ours := (before+after)/2, job.speed
	say("raw SQL %.0f shards/s (%.0f before, %.0f after), Ostraka %.0f shards/s, under the default policy %.0f shards/s", raw, before, after, ours, byDefault)
	return []figure{
		{"raw_shards_per_s", raw}, {"lifecycle_shards_per_s", ours}, {"lifecycle_ratio", ours / raw}, {"default_lifecycle_ratio", byDefault / raw},
	}, nil
}

// large runs a job of many shards and says how much memory the server needed at most.
func (b *bench) large(ctx context.Context) ([]figure, error) {
	if b.many == 0 {
		return nil, nil
	}
	var small, large measured
	for n := range b.curve() {
		var err error
		if large, err = b.job(ctx, n); err != nil {
			return nil, err
		}
		if small.speed == 0 && n >= b.many/20 {
			small = large
		}
		say("%d shards: %.0f shards/s, %.1f µs each, server peak %.0f MiB", n, large.speed, 1e6/large.speed, large.peakMiB)
	}
	return []figure{
		{"large_job_shards_per_s", large.speed},
		{"large_job_peak_rss_mib", large.peakMiB},
		{"large_job_peak_rss_ratio", large.peakMiB / small.peakMiB},
		{"large_job_cost_ratio", small.speed / large.speed},
		{"merge_tail_ratio", large.tailRatio},
	}, nil
}

// curve are the sizes of the jobs by which it is seen whether a shard costs more among many: a twentieth of the largest job and that, and with -long all
// powers of ten from 10^4 on.
func (b *bench) curve() iter.Seq[int64] {
	return func(yield func(int64) bool) {
		n := max(b.many/20, 1)
		if b.long {
			n = min(10_000, b.many)
		}
		for ; n < b.many; n *= 10 {
			if !yield(n) {
				return
			}
			if !b.long {
				break
			}
		}
		yield(b.many)
	}
}

// measured is what a job came to.
type measured struct {
	speed     float64 // shards/s, from the first lease to the answer
	peakMiB   float64 // of the server's memory
	tailRatio float64 // from the last shard to the answer, against folding everything at once
}

// job runs one job of n shards on a server of its own.
func (b *bench) job(ctx context.Context, n int64) (measured, error) { return b.watchedJob(ctx, n, 0) }

// watchedJob is job with people who watch it.
func (b *bench) watchedJob(ctx context.Context, n int64, people int) (m measured, err error) {
	s, err := b.startServer(ctx)
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	job, err := b.submit(ctx, s, believed(n))
	if err != nil {
		return m, err
	}
	leave := watch(ctx, s, job, people)
	seconds, err := b.drain(ctx, s, job, n)
	if err := errors.Join(err, leave()); err != nil {
		return m, err
	}
	m.speed = float64(n) / seconds
	if m.peakMiB, err = s.peakMiB(); err != nil {
		return m, err
	}
	m.tailRatio, err = b.tail(ctx, s.owner, s.project, job)
	return m, err
}

// load is a job that fakeAgents work off.
type load struct {
	shards int64
	source string                // of its function
	policy *client.PolicyRequest // nil: the default one
}

// believed is a job of which every result is believed, so that its function is never executed.
func believed(shards int64) load {
	return load{shards, "def handler(x):\n    return {}\n", &client.PolicyRequest{Quorum: 1}}
}

// submit pushes a function, submits a job of n shards and waits until all of them exist: the raw way finds its rows made, too.
func (b *bench) submit(ctx context.Context, s *server, l load) (uuid.UUID, error) {
	if err := s.push(ctx, b.dir, "counted", l.source); err != nil {
		return uuid.Nil, err
	}
	submitted, err := s.owner.SubmitJobWithResponse(ctx, s.project, nil, client.JobRequest{
		Function:   "counted",
		Partition:  client.Partition{Kind: "range", From: "0", To: strconv.FormatInt(l.shards, 10), Size: "1"},
		Policy:     l.policy,
		Aggregator: &client.AggregatorRequest{Module: "sum"},
	})
	if err != nil || submitted.JSON201 == nil {
		return uuid.Nil, fmt.Errorf("submitting the job: %w: %s", err, submitted.Body)
	}
	id := submitted.JSON201.ID
	for {
		job, err := getJob(ctx, s.owner, s.project, id, "")
		if err != nil || job.State != "splitting" {
			return id, err
		}
	}
}

// drain lets the agents work the job off and returns how long it took until the answer stood.
func (b *bench) drain(ctx context.Context, s *server, job uuid.UUID, n int64) (seconds float64, err error) {
	fleet := make([]*fakeAgent, agents)
	for i := range fleet {
		if fleet[i], err = enrol(ctx, s.info, fmt.Sprintf("bench %d", i)); err != nil {
			return 0, err
		}
	}
	start := time.Now()
	var done atomic.Int64
	group, working := errgroup.WithContext(ctx)
	for _, a := range fleet {
		group.Go(func() error {
			return a.work(working, func(shards int) bool { return done.Add(int64(shards)) >= n })
		})
	}
	if err := group.Wait(); err != nil {
		return 0, err
	}
	reported := time.Since(start)
	got, err := waitEnded(ctx, s.owner, s.project, job)
	if err != nil {
		return 0, err
	}
	seconds = time.Since(start).Seconds()
	say("%d shards: reported after %.1f s, answer after %.1f s", n, reported.Seconds(), seconds)
	return seconds, checkAnswer(got, n)
}

// checkAnswer holds the answer against what every shard returned: a fast wrong answer is worth nothing.
func checkAnswer(job client.Job, n int64) error {
	passed := int64(0)
	for shard := range n {
		passed += passedIn(shard)
	}
	want := fmt.Sprintf(`{"passed":%d,"tested":%d}`, passed, 1000*n)
	if job.Aggregate == nil || string(job.Aggregate.Value) != want {
		return fmt.Errorf("the answer is not %s", want)
	}
	return nil
}

func getJob(ctx context.Context, owner *client.ClientWithResponses, project, id uuid.UUID, wait string) (client.Job, error) {
	params := &client.GetJobParams{}
	if wait != "" {
		params.Wait = &wait
	}
	res, err := owner.GetJobWithResponse(ctx, project, id, params)
	if err != nil {
		return client.Job{}, err
	}
	if res.JSON200 == nil {
		return client.Job{}, fmt.Errorf("reading the job: %s: %s", res.Status(), res.Body)
	}
	return *res.JSON200, nil
}
