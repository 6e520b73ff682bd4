//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
	"github.com/ostraka/ostraka/examples"
	"github.com/ostraka/ostraka/runtime/python"
)

// What the demo runs, and what is known about it.
const (
	demoAgents    = 4
	demoLiars     = 1
	demoRange     = "2^64:2^64+10^6"
	demoShardSize = "2000" // 500 shards: each is some milliseconds, and the bar moves
	// demoLies is how often the liar lies: it is to be found out even where the machine is so busy that it gets little work.
	demoLies = 0.8
	// demoKnown is how many primes there are in the range, as PARI and others count them; below 2^64 and as far as anybody has
	// looked, exactly the primes pass BPSW.
	demoKnown = 22206
	// demoLimit is how long all of it may take: it only ends a demo that hangs. It takes a quarter of a minute on two processors, and some
	// minutes on a slow machine that does other things at the same time.
	demoLimit = 20 * time.Minute
	// demoAsk is how often the demo looks whether agents and server are ready.
	demoAsk = 100 * time.Millisecond
)

// errDemo says that the demo did not show what it is there to show. What was wrong has been printed.
var errDemo = &exitError{code: exitFailed, err: errors.New("the demo did not show what it should: see above")}

func newDemo(t *terminal) *cobra.Command {
	var python string
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Watch a liar being voted out, and an answer being right",
		Long: `Count the numbers in [2^64, 2^64+10^6) that pass the Baillie-PSW primality test, on four agents of
which one lies. Nothing but the defaults verifies the results: one agent executes a shard, the server
executes a secret sample again, and what the liar gave is taken back when it is found out. It is
named; the count is compared with the known one; a follow-up job proves a sample of the findings
prime. It takes less than a minute, exits with 0 only when all of that is so, and leaves nothing
behind.

DEMO_FOLLOWUP_ENABLED=0 leaves the follow-up out.`,
		Args: arguments(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return runDemo(cmd.Context(), t, python) },
	}
	cmd.Flags().StringVar(&python, "python", "", pythonUsage)
	cmd.AddCommand(newDemoCampaign(t))
	return cmd
}

func runDemo(ctx context.Context, t *terminal, python string) error {
	off, err := followupsOff(t)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, demoLimit, fmt.Errorf("the demo took longer than %v", demoLimit))
	defer cancel()
	d := &demo{t: t, followups: !off, python: python}
	err = d.end(ctx, d.run(ctx))
	if err == nil {
		t.put("\nEverything that was started is stopped and cleaned up. To look around yourself:\n  %s dev --data ./ostraka-data --agents %d --liars %d\n", t.program, demoAgents, demoLiars)
	}
	return err
}

// end stops what was started, and says how a run with err has ended.
func (d *demo) end(ctx context.Context, err error) error {
	if d.dev != nil {
		if stopErr := d.dev.stop(); stopErr != nil {
			err = errors.Join(err, fmt.Errorf("stopping: %w", stopErr))
		}
	}
	switch {
	case err != nil && errors.Is(err, context.DeadlineExceeded):
		return &exitError{code: exitFailed, err: context.Cause(ctx)}
	case errors.Is(err, context.Canceled):
		return &exitError{code: exitInterrupted, err: errors.New("the demo was interrupted; everything that it had started is stopped and cleaned up")}
	}
	return err
}

// demo is one run of the demo.
type demo struct {
	t         *terminal
	followups bool
	python    string // as in agent.Options
	dev       *dev
	c         *connection
}

func (d *demo) run(ctx context.Context) error {
	d.t.put("Ostraka counts the primes in [2^64, 2^64 + 10^6) on %d agents. One of them lies.\n\n", demoAgents)
	if err := d.start(ctx, devConfig{Agents: demoAgents, Liars: demoLiars, FollowupsOff: !d.followups, Recheck: recheckConfig{Concurrent: 1}}); err != nil {
		return fmt.Errorf("starting: %w", err)
	}
	if err := d.prepare(ctx); err != nil {
		return err
	}
	job, err := d.count(ctx)
	if err != nil {
		return err
	}
	report, err := d.examine(ctx, job)
	if err != nil {
		return err
	}
	d.t.put("\n%s", report.text())
	if !report.right() {
		return errDemo
	}
	return nil
}

// start starts everything and connects to it. The config says what differs from one demo to another.
func (d *demo) start(ctx context.Context, config devConfig) error {
	log, err := newLog(d.t, "error")
	if err != nil {
		return err
	}
	began := time.Now()
	config.Listen, config.LieProbability, config.Sign, config.Log, config.Terminal, config.Python = "127.0.0.1:0", demoLies, true, log, d.t, d.python
	config.Recheck.Sandbox, config.Recheck.Python = recheckLinux, python.Options{Python: d.python}
	if d.dev, err = startDev(ctx, config); err != nil {
		return err
	}
	d.t.put("  started Postgres, the server and %d agents in %v\n", config.Agents, time.Since(began).Round(100*time.Millisecond))
	d.t.put("  while it runs: API docs %s/docs, River UI %s/ops/river/\n", d.dev.info.URL, d.dev.info.URL)
	d.c, err = d.dev.connect()
	return err
}

// prepare pushes the functions and makes the rule.
func (d *demo) prepare(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "ostraka-demo-")
	if err != nil {
		return fmt.Errorf("making a folder for the functions: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }() // it is in the system's folder for what may be lost
	for _, name := range []string{"bpsw", "prove"} {
		folder, err := examples.Copy(name, dir)
		if err != nil {
			return err
		}
		doc, err := pushFunction(ctx, d.c, folder, d.dev.signer)
		if err != nil {
			return err
		}
		d.t.put("  pushed %-5s  %s\n", name, doc.Value.Manifest.Description)
	}
	if !d.followups {
		return nil
	}
	doc, err := createRule(ctx, d.c, examples.ProveSample)
	if err != nil {
		return err
	}
	d.t.put("  made the rule %s: when bpsw has finished, prove a sample of what it found\n", doc.Value.Spec.Name)
	return nil
}

// count runs the job and waits for it.
func (d *demo) count(ctx context.Context) (client.Job, error) {
	cut, err := parseRange(demoRange, demoShardSize)
	if err != nil {
		return client.Job{}, err
	}
	request := client.JobRequest{Function: "bpsw", Partition: cut}
	if err := d.awaitReady(ctx, request, demoAgents); err != nil {
		return client.Job{}, err
	}
	submitted, err := submitJob(ctx, d.c, request, "")
	if err != nil {
		return client.Job{}, err
	}
	d.t.put("\n")
	return d.await(ctx, submitted.Value)
}

// awaitReady waits until so many agents have joined and the server executes shards itself, and says what the job is expected to take.
func (d *demo) awaitReady(ctx context.Context, request client.JobRequest, agents int) error {
	for {
		doc, err := answer.Read[client.JobPlan](d.c.PlanJob(ctx, d.c.project, nil, request))
		if err != nil {
			return explain("planning the job", err)
		}
		p := doc.Value
		if f := p.Forecast; p.Agents == int64(agents) && f.Rechecks > 0 {
			d.t.put("  the plan: %s; %.2f executions a shard\n", policyText(p.Policy), f.ExecutionsPerShard)
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(demoAsk):
		}
	}
}

func (d *demo) await(ctx context.Context, job client.Job) (client.Job, error) {
	w := &watcher{c: d.c, job: job.ID, progress: newProgress(d.t, job.Function), stopAtReview: true}
	if err := w.follow(ctx); err != nil {
		return job, err
	}
	doc, err := getJob(ctx, d.c, job.ID)
	return doc.Value, err
}
