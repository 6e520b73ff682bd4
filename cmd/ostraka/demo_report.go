//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/ostraka/ostraka/client"
)

const (
	// followUpLimit is how long a follow-up job may take to appear after the job that it follows.
	followUpLimit = 30 * time.Second
	followUpAsk   = 200 * time.Millisecond
)

// demoReport is what the demo shows.
type demoReport struct {
	job     client.Job
	passed  int64
	liars   []suspect // those that lie
	wronged []string  // honest agents that were caught
	proof   *proof    // nil where follow-ups are off
	receipt *demoReceipt
}

// suspect is an agent that lies, and what came of it.
type suspect struct {
	name   string
	wrong  int64 // shards on which it was proven wrong
	caught bool
}

// proof is what came of the follow-up job.
type proof struct {
	job    client.Job
	proved int64
}

// examine asks the server what came of the job.
func (d *demo) examine(ctx context.Context, job client.Job) (*demoReport, error) {
	if err := outcome(job); err != nil {
		return nil, err
	}
	r := &demoReport{job: job}
	var answer struct {
		Passed int64 `json:"passed"`
	}
	if err := decodeAnswer(job, &answer); err != nil {
		return nil, err
	}
	r.passed = answer.Passed
	var err error
	if d.followups {
		if r.proof, err = d.awaitProof(ctx, job); err != nil {
			return nil, err
		}
	}
	if r.receipt, err = d.receipt(ctx, job, "", demoKnown); err != nil {
		return nil, err
	}
	agents, err := projectAgents(ctx, d.c)
	if err != nil {
		return nil, explain("listing agents", err)
	}
	r.judge(d.dev.agents, agents)
	return r, nil
}

func decodeAnswer(job client.Job, into any) error {
	if job.Aggregate == nil {
		return fmt.Errorf("the job %s has no answer", job.Function)
	}
	if err := json.Unmarshal(job.Aggregate.Value, into); err != nil {
		return fmt.Errorf("reading the answer of %s: %w", job.Function, err)
	}
	return nil
}

// judge compares what the server found out about the agents with what we know of them.
func (r *demoReport) judge(known []devAgent, found []client.ProjectAgent) {
	for _, a := range known {
		i := slices.IndexFunc(found, func(f client.ProjectAgent) bool { return f.Name == a.name })
		switch {
		case a.liar != "" && i < 0:
			r.liars = append(r.liars, suspect{name: a.name})
		case a.liar != "":
			r.liars = append(r.liars, suspect{name: a.name, wrong: max(found[i].Failed, found[i].AuditsFailed), caught: found[i].CaughtAt != nil})
		case i >= 0 && found[i].CaughtAt != nil:
			r.wronged = append(r.wronged, a.name)
		}
	}
}

// awaitProof waits for the follow-up job to appear and to end.
func (d *demo) awaitProof(ctx context.Context, parent client.Job) (*proof, error) {
	waiting, cancel := context.WithTimeoutCause(ctx, followUpLimit, fmt.Errorf("no follow-up job came in %v", followUpLimit))
	defer cancel()
	for {
		job, err := d.findFollowUp(waiting, parent)
		if err != nil {
			return nil, err
		}
		if job != nil {
			return d.prove(ctx, *job)
		}
		select {
		case <-waiting.Done():
			return nil, context.Cause(waiting)
		case <-time.After(followUpAsk):
		}
	}
}

func (d *demo) findFollowUp(ctx context.Context, parent client.Job) (*client.Job, error) {
	jobs, _, _, err := gather[client.Job](0, func(cursor *string, size *int64) (*http.Response, error) {
		return d.c.ListJobs(ctx, d.c.project, &client.ListJobsParams{Root: &parent.ID, Cursor: cursor, Limit: size})
	})
	if err != nil {
		return nil, explain("looking for the follow-up job", err)
	}
	for _, j := range jobs {
		if j.Parent != nil && *j.Parent == parent.ID {
			return &j, nil
		}
	}
	return nil, nil
}

func (d *demo) prove(ctx context.Context, job client.Job) (*proof, error) {
	job, err := d.await(ctx, job)
	if err != nil {
		return nil, err
	}
	if err := outcome(job); err != nil {
		return nil, fmt.Errorf("the follow-up: %w", err)
	}
	var answer struct {
		Prime int64 `json:"prime"`
	}
	if err := decodeAnswer(job, &answer); err != nil {
		return nil, err
	}
	return &proof{job: job, proved: answer.Prime}, nil
}

// right says whether the demo showed what it is there to show.
func (r *demoReport) right() bool {
	named := !slices.ContainsFunc(r.liars, func(s suspect) bool { return s.wrong == 0 && !s.caught })
	proved := r.proof == nil || r.proof.proved == r.proof.job.Shards.Total
	v := r.job.Verification
	bounded := v != nil && v.ErrorBound > 0 && v.AuditsPassed > 0 && v.AuditsPending == 0 && r.job.Shards.Provisional == 0
	return r.passed == demoKnown && bounded && named && len(r.liars) == demoLiars && len(r.wronged) == 0 && proved && r.receipt.right()
}

func (r *demoReport) text() string {
	var b strings.Builder
	verdict := "RIGHT"
	if r.passed != demoKnown {
		verdict = "WRONG"
	}
	fmt.Fprintf(&b, "  answer     %d numbers pass, and %d are known to: %s\n", r.passed, demoKnown, verdict)
	if v := r.job.Verification; v != nil {
		fmt.Fprintf(&b, "  bound      at most %g of the results are wrong, with up to %g of them from liars\n", v.ErrorBound, v.AssumeHostile)
		fmt.Fprintf(&b, "  audits     %s\n", auditsText(v))
	}
	for _, s := range r.liars {
		fmt.Fprintf(&b, "  liar       %s\n", s.text())
	}
	if v := r.job.Verification; v != nil && v.Reopened > 0 {
		fmt.Fprintf(&b, "  taken back %s that it had given besides, and executed again by others\n", count(v.Reopened, "result"))
	}
	for _, name := range r.wronged {
		fmt.Fprintf(&b, "  WRONGED    %s is honest and was caught all the same\n", name)
	}
	if p := r.proof; p != nil {
		fmt.Fprintf(&b, "  follow-up  %d of a sample of %d findings are proved prime\n", p.proved, p.job.Shards.Total)
	}
	fmt.Fprintf(&b, "  receipt    %s\n", r.receipt.text())
	fmt.Fprintf(&b, "  work       %s\n", r.workText())
	return b.String()
}

func (r *demoReport) workText() string {
	text := count(r.job.Shards.Total, "shard")
	if v := r.job.Verification; v != nil {
		text += fmt.Sprintf(", %.2f executions a shard (%d by agents, %d by the server)", v.ExecutionsPerShard, r.job.Attempts, v.Rechecks)
	}
	return text + ", " + tookText(r.job)
}

func (s suspect) text() string {
	switch {
	case s.caught:
		return fmt.Sprintf("%s was proven wrong on %s, and voted out", s.name, count(s.wrong, "shard"))
	case s.wrong > 0:
		return fmt.Sprintf("%s was proven wrong on %s", s.name, count(s.wrong, "shard"))
	default:
		return s.name + " WAS NOT FOUND OUT"
	}
}
