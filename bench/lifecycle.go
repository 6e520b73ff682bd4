package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/runtime/bundle"
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
	raw, ours := (before+after)/2, job.speed
	say("raw SQL %.0f shards/s (%.0f before, %.0f after), Ostraka %.0f shards/s", raw, before, after, ours)
	return []figure{{"raw_shards_per_s", raw}, {"lifecycle_shards_per_s", ours}, {"lifecycle_ratio", ours / raw}}, nil
}

// large runs a job of many shards and says how much memory the server needed at most.
func (b *bench) large(ctx context.Context) ([]figure, error) {
	if b.many == 0 {
		return nil, nil
	}
	small, err := b.job(ctx, max(b.many/20, 1))
	if err != nil {
		return nil, err
	}
	large, err := b.job(ctx, b.many)
	if err != nil {
		return nil, err
	}
	say("%d shards: %.0f shards/s, server peak %.0f MiB (%.0f MiB with a twentieth of the shards)", b.many, large.speed, large.peakMiB, small.peakMiB)
	return []figure{
		{"large_job_shards_per_s", large.speed},
		{"large_job_peak_rss_mib", large.peakMiB},
		{"large_job_peak_rss_ratio", large.peakMiB / small.peakMiB},
		{"merge_tail_ratio", large.tailRatio},
	}, nil
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
	owner, project := s.owner, s.project
	job, err := b.submit(ctx, owner, project, n)
	if err != nil {
		return m, err
	}
	leave := watch(ctx, s, job, people)
	seconds, err := b.drain(ctx, s, owner, project, job, n)
	if err := errors.Join(err, leave()); err != nil {
		return m, err
	}
	m.speed = float64(n) / seconds
	if m.peakMiB, err = s.peakMiB(); err != nil {
		return m, err
	}
	m.tailRatio, err = b.tail(ctx, owner, project, job)
	return m, err
}

// submit pushes a function, submits a job of n shards and waits until all of them exist: the raw way finds its rows made, too.
func (b *bench) submit(ctx context.Context, owner *client.ClientWithResponses, project uuid.UUID, n int64) (uuid.UUID, error) {
	file := filepath.Join(b.dir, "trivial.py")
	if err := os.WriteFile(file, []byte("def handler(x):\n    return {}\n"), 0o600); err != nil {
		return uuid.Nil, err
	}
	packed, err := bundle.Pack(file)
	if err != nil {
		return uuid.Nil, err
	}
	pushed, err := owner.PushFunctionWithBodyWithResponse(ctx, project, nil, "application/octet-stream", bytes.NewReader(packed.Archive()))
	if err != nil || pushed.StatusCode() >= http.StatusMultipleChoices {
		return uuid.Nil, fmt.Errorf("pushing the function: %w: %s", err, pushed.Body)
	}
	submitted, err := owner.SubmitJobWithResponse(ctx, project, nil, client.JobRequest{
		Function:   packed.Manifest.Name,
		Partition:  client.Partition{Kind: "range", From: "0", To: strconv.FormatInt(n, 10), Size: "1"},
		Policy:     &client.PolicyRequest{Quorum: 1},
		Aggregator: &client.AggregatorRequest{Module: "sum"},
	})
	if err != nil || submitted.JSON201 == nil {
		return uuid.Nil, fmt.Errorf("submitting the job: %w: %s", err, submitted.Body)
	}
	id := submitted.JSON201.ID
	for {
		job, err := getJob(ctx, owner, project, id, "")
		if err != nil || job.State != "splitting" {
			return id, err
		}
	}
}

// drain lets the agents work the job off and returns how long it took until the answer stood.
func (b *bench) drain(ctx context.Context, s *server, owner *client.ClientWithResponses, project, job uuid.UUID, n int64) (seconds float64, err error) {
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
	for {
		got, err := getJob(ctx, owner, project, job, "30s")
		if err != nil {
			return 0, err
		}
		if got.State == "finished" {
			seconds = time.Since(start).Seconds()
			say("%d shards: reported after %.1f s, answer after %.1f s", n, reported.Seconds(), seconds)
			return seconds, checkAnswer(got, n)
		}
		if got.State == "failed" || got.State == "cancelled" {
			return 0, fmt.Errorf("the job %s: %s", got.State, got.Error)
		}
	}
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
