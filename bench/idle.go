package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"github.com/ostraka/ostraka/client"
)

const (
	// idlePolls wait for something at a time: a tenth of them for directives, a fifth for a job, the others for work.
	idlePolls = 5000
	// idleAgents are the agents that they belong to, and those that wait for work while jobs are submitted.
	idleAgents = 1000
	// idleWindow is how long the waiting is measured. It begins when idleQuiet seconds had fewer than idleCalm commits each: all polls are
	// taken up then, and Postgres has told of all that they asked, which it does ten seconds later at most.
	idleWindow, idleQuiet, idleCalm = 15 * time.Second, 11, 100
	// idleSubmits and idleWakes are samples.
	idleSubmits, idleWakes = 200, 200
)

// idle measures what those who wait cost the others: commits and memory while nothing happens, how long a submit takes beside them, and how
// soon one of a thousand agents has the work.
func (b *bench) idle(ctx context.Context) (figures []figure, err error) {
	s, err := b.startServer(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	w := &idleWorld{bench: b, server: s, web: s.info.URL[len("http://"):]}
	if w.db, err = pgx.Connect(ctx, b.databaseURL); err != nil {
		return nil, err
	}
	defer func() { _ = w.db.Close(context.WithoutCancel(ctx)) }()
	if err := w.prepare(ctx); err != nil {
		return nil, err
	}
	alone, err := w.submits(ctx)
	if err != nil {
		return nil, err
	}
	waiting, err := w.waits(ctx)
	if err != nil {
		return nil, err
	}
	beside, err := w.submits(ctx)
	if err != nil {
		return nil, err
	}
	if err := w.polls.close(); err != nil {
		return nil, err
	}
	wake, err := w.wakes(ctx)
	if err != nil {
		return nil, err
	}
	say("%d polls: %.1f commits/s, %.1f KiB each; submit p99 %.1f ms alone (median %.1f), %.1f ms beside them (median %.1f); %d agents: work lent after %.1f ms (median %.1f)",
		idlePolls, waiting.commits, waiting.kib, 1000*p99(alone), 1000*alone[len(alone)/2], 1000*p99(beside), 1000*beside[len(beside)/2], idleAgents, 1000*p99(wake), 1000*wake[len(wake)/2])
	return []figure{
		{"idle_commits_per_s", waiting.commits},
		{"idle_kib_per_poll", waiting.kib},
		{"submit_p99_ratio", p99(beside) / p99(alone)},
		{"wake_p99_ms", 1000 * p99(wake)},
	}, nil
}

// p99 is what one sample in a hundred is above. It sorts them.
func p99(samples []float64) float64 {
	slices.Sort(samples)
	return samples[len(samples)*99/100]
}

// idleWorld is a server with agents that have nothing to do.
type idleWorld struct {
	*bench
	server *server
	web    string // host and port
	db     *pgx.Conn
	rss    float64 // of the server before anybody came, in KiB
	keys   []string
	known  string // what all agents know of directives
	polls  crowd

	watched uuid.UUID // a project that no agent works for, with
	job     uuid.UUID // a job that waits
	watcher string    // and a key
}

func (w *idleWorld) prepare(ctx context.Context) (err error) {
	if w.rss, err = w.server.rssKiB(); err != nil {
		return err
	}
	if _, err := w.submit(ctx, w.server, believed(1)); err != nil {
		return err
	}
	if err := w.cancelJobs(ctx); err != nil {
		return err
	}
	w.keys = make([]string, idleAgents)
	group, enrolling := errgroup.WithContext(ctx)
	group.SetLimit(4)
	for i := range w.keys {
		group.Go(func() (err error) {
			w.keys[i], err = enrolKey(enrolling, w.server.info, fmt.Sprintf("idle %d", i))
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	agent, err := connect(w.server.info.URL, w.keys[0])
	if err != nil {
		return err
	}
	directives, err := agent.GetDirectivesWithResponse(ctx, nil)
	if err != nil || directives.JSON200 == nil {
		return fmt.Errorf("asking for directives: %w: %s", err, directives.Body)
	}
	w.known = directives.JSON200.Revision
	operator, err := connect(w.server.info.URL, w.server.info.OperatorKey)
	if err != nil {
		return err
	}
	made, err := operator.CreateProjectWithResponse(ctx, nil, client.NewProject{Name: "waits"})
	if err != nil || made.JSON201 == nil {
		return fmt.Errorf("making a project: %w: %s", err, made.Body)
	}
	w.watched, w.watcher = made.JSON201.Project.ID, made.JSON201.OwnerKey
	owner, err := connect(w.server.info.URL, w.watcher)
	if err != nil {
		return err
	}
	there := *w.server
	there.owner, there.project = owner, w.watched
	w.job, err = w.submit(ctx, &there, believed(1))
	return err
}

func (w *idleWorld) cancelJobs(ctx context.Context) error {
	jobs, err := w.server.owner.ListJobsWithResponse(ctx, w.server.project, nil)
	if err != nil || jobs.JSON200 == nil {
		return fmt.Errorf("listing jobs: %w: %s", err, jobs.Body)
	}
	for _, j := range jobs.JSON200.Items {
		if err := w.cancelJob(ctx, j.ID); err != nil {
			return err
		}
	}
	return nil
}

func (w *idleWorld) cancelJob(ctx context.Context, job uuid.UUID) error {
	res, err := w.server.owner.CancelJobWithResponse(ctx, w.server.project, job, nil)
	if err != nil || res.StatusCode() >= http.StatusMultipleChoices {
		return fmt.Errorf("cancelling job %s: %w: %s", job, err, res.Body)
	}
	return nil
}

// submitOne submits a job of one shard.
func (w *idleWorld) submitOne(ctx context.Context) (uuid.UUID, error) {
	res, err := w.server.owner.SubmitJobWithResponse(ctx, w.server.project, nil, client.JobRequest{
		Function: "trivial", Partition: client.Partition{Kind: "range", From: "0", To: "1", Size: "1"},
		Policy: &client.PolicyRequest{Quorum: 1}, Aggregator: &client.AggregatorRequest{Module: "sum"},
	})
	if err != nil || res.JSON201 == nil {
		return uuid.Nil, fmt.Errorf("submitting a job: %w: %s", err, res.Body)
	}
	return res.JSON201.ID, nil
}

// submits says how long each of some submits took, in seconds.
func (w *idleWorld) submits(ctx context.Context) ([]float64, error) {
	took := make([]float64, idleSubmits)
	for i := range took {
		began := time.Now()
		job, err := w.submitOne(ctx)
		if err != nil {
			return nil, err
		}
		took[i] = time.Since(began).Seconds()
		if err := w.cancelJob(ctx, job); err != nil {
			return nil, err
		}
	}
	return took, nil
}

// idleCost is what waiting costs while nothing happens.
type idleCost struct{ commits, kib float64 }

// waits has everybody wait, and measures while nothing happens. They go on waiting.
func (w *idleWorld) waits(ctx context.Context) (cost idleCost, err error) {
	began := time.Now()
	for i := range idlePolls {
		key, path := w.keys[i%len(w.keys)], "POST /v1/agent/leases?max=1&wait=60s"
		switch i % 10 {
		case 0:
			path = "GET /v1/agent/directives?wait=60s&known=" + w.known
		case 1, 2:
			key, path = w.watcher, fmt.Sprintf("GET /v1/projects/%s/jobs/%s?wait=60s", w.watched, w.job)
		}
		if err := w.polls.open(ctx, w.web, path, key, nil); err != nil {
			return cost, err
		}
	}
	before, err := w.calm(ctx)
	if err != nil {
		return cost, err
	}
	say("%d polls wait after %.1f s", idlePolls, time.Since(began).Seconds())
	if err := stay(ctx, idleWindow); err != nil {
		return cost, err
	}
	after, err := w.commits(ctx)
	if err != nil {
		return cost, err
	}
	rss, err := w.server.rssKiB()
	if err != nil {
		return cost, err
	}
	if n := w.polls.answered.Load(); n > idlePolls/100 {
		return cost, fmt.Errorf("%d of %d polls were answered while nothing happened", n, idlePolls)
	}
	return idleCost{commits: (after - before) / idleWindow.Seconds(), kib: (rss - w.rss) / idlePolls}, nil
}

// calm waits until nothing happens, and says how many commits there were until then.
func (w *idleWorld) calm(ctx context.Context) (before float64, err error) {
	if before, err = w.commits(ctx); err != nil {
		return 0, err
	}
	for quiet := 0; quiet < idleQuiet; quiet++ {
		if err := stay(ctx, time.Second); err != nil {
			return 0, err
		}
		now, err := w.commits(ctx)
		if err != nil {
			return 0, err
		}
		if now-before >= idleCalm {
			quiet = -1
		}
		before = now
	}
	return before, nil
}

// commits is how many transactions the server's database has seen.
func (w *idleWorld) commits(ctx context.Context) (n float64, err error) {
	err = w.db.QueryRow(ctx, "select xact_commit + xact_rollback from pg_stat_database where datname = current_database()").Scan(&n)
	return n, err
}

// wakes says how long it took from each of some submits until an agent had the work, in seconds.
func (w *idleWorld) wakes(ctx context.Context) (took []float64, err error) {
	var agents crowd
	defer func() { err = errors.Join(err, agents.close()) }()
	lent := make(chan string, idleAgents)
	const path = "POST /v1/agent/leases?max=1&wait=60s"
	waits := func(key string) error { return agents.open(ctx, w.web, path, key, lent) }
	for _, key := range w.keys {
		if err := waits(key); err != nil {
			return nil, err
		}
	}
	if _, err := w.calm(ctx); err != nil {
		return nil, err
	}
	for len(took) < idleWakes {
		began := time.Now()
		job, err := w.submitOne(ctx)
		if err != nil {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case key := <-lent:
			took = append(took, time.Since(began).Seconds())
			if err := errors.Join(w.cancelJob(ctx, job), waits(key)); err != nil { // the next agent would look through it first
				return nil, err
			}
		case <-time.After(time.Minute):
			return nil, fmt.Errorf("nobody was lent job %d", len(took))
		}
	}
	slices.Sort(took)
	return took, nil
}

func stay(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
