package main

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/migrations"
)

const (
	// callSamples are the calls of each policy; callsFirst are made before them, so that the agent is warm and knows how much to ask for.
	callSamples, callsFirst = 100, 5
	// callRuns are the runs of `docker run` that a call is compared with.
	callRuns = 10
)

//go:embed call_steps.sql
var callStepsSQL string

// callSteps names what call_steps.sql tells, and what lies between.
var callSteps = []string{"submit", "split", "lease", "record", "verify", "fold", "answer", "finish"}

// calls measures one call: a job of one shard from its request to its output, executed by a real agent; and `docker run` of the same.
func (b *bench) calls(ctx context.Context) (_ []figure, err error) {
	s, err := b.startServer(ctx, "--agents", "1")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	db, err := pgx.Connect(ctx, b.databaseURL)
	if err != nil {
		return nil, err
	}
	defer func() { _ = db.Close(context.WithoutCancel(ctx)) }()
	packed, err := b.trivial()
	if err != nil {
		return nil, err
	}
	pushed, err := s.owner.PushFunctionWithBodyWithResponse(ctx, s.project, nil, "application/octet-stream", bytes.NewReader(packed.Archive()))
	if err != nil {
		return nil, fmt.Errorf("pushing the function: %w", err)
	}
	if pushed.StatusCode() >= http.StatusMultipleChoices {
		return nil, fmt.Errorf("pushing the function: %s: %s", pushed.Status(), pushed.Body)
	}
	c := &caller{server: s, db: db}
	plain, err := c.median(ctx, "none", &client.PolicyRequest{None: true})
	if err != nil {
		return nil, err
	}
	verified, err := c.median(ctx, "default", nil)
	if err != nil {
		return nil, err
	}
	run, err := b.dockerRun(ctx)
	if err != nil {
		return nil, err
	}
	say("a call takes %.1f ms, verified %.1f ms; docker run %.1f ms", 1000*plain, 1000*verified, 1000*run)
	return []figure{{"call_ms", 1000 * plain}, {"call_verified_ms", 1000 * verified}, {"call_ratio", run / plain}}, nil
}

// caller makes calls, one after the other.
type caller struct {
	server *server
	db     *pgx.Conn
	made   int64
}

// median is what a call takes in the middle, in seconds.
func (c *caller) median(ctx context.Context, name string, policy *client.PolicyRequest) (float64, error) {
	var took []float64
	steps := make([][]float64, len(callSteps)+1)
	for i := range callsFirst + callSamples {
		began := time.Now()
		job, err := c.call(ctx, policy)
		if err != nil {
			return 0, err
		}
		ended := time.Now()
		if i < callsFirst {
			continue
		}
		took = append(took, ended.Sub(began).Seconds())
		if err := c.profile(ctx, job, began, ended, steps); err != nil {
			return 0, err
		}
	}
	slices.Sort(took)
	say("policy %s: median %.1f ms, 99 of 100 below %.1f ms; ms before each step began:%s", name, 1000*took[len(took)/2], 1000*p99(took), profileText(steps))
	return took[len(took)/2], nil
}

// call has the function add one to a number.
func (c *caller) call(ctx context.Context, policy *client.PolicyRequest) (uuid.UUID, error) {
	c.made++
	res, err := c.server.owner.CallFunctionWithResponse(ctx, c.server.project, "trivial", nil, client.CallRequest{
		Input: strconv.AppendInt(nil, c.made, 10), Policy: policy,
	})
	if err != nil {
		return uuid.Nil, fmt.Errorf("calling the function: %w", err)
	}
	if res.JSON200 == nil {
		return uuid.Nil, fmt.Errorf("calling the function: %s: %s", res.Status(), res.Body)
	}
	if string(res.JSON200.Output) != strconv.FormatInt(c.made+1, 10) {
		return uuid.Nil, fmt.Errorf("the call of %d gave %s", c.made, res.JSON200.Output)
	}
	return res.JSON200.Job, nil
}

// profile adds how long after the one before it each step of the call began.
func (c *caller) profile(ctx context.Context, job uuid.UUID, began, ended time.Time, steps [][]float64) error {
	if _, err := c.db.Exec(ctx, "set search_path = "+migrations.ProjectSchema(c.server.project)); err != nil {
		return err
	}
	at := make([]float64, len(callSteps))
	into := make([]any, len(at))
	for i := range at {
		into[i] = &at[i]
	}
	if err := c.db.QueryRow(ctx, callStepsSQL, job).Scan(into...); err != nil {
		return fmt.Errorf("reading when the steps of a call began: %w", err)
	}
	last := float64(began.UnixMicro()) / 1e6
	for i, t := range slices.Concat(at, []float64{float64(ended.UnixMicro()) / 1e6}) {
		steps[i] = append(steps[i], t-last)
		last = t
	}
	return nil
}

func profileText(steps [][]float64) string {
	var text strings.Builder
	for i, name := range append(slices.Clone(callSteps), "read") {
		slices.Sort(steps[i])
		fmt.Fprintf(&text, " %s %.1f", name, 1000*steps[i][len(steps[i])/2])
	}
	return text.String()
}

// dockerRun is what a `docker run` of the same takes in the middle, in seconds.
func (b *bench) dockerRun(ctx context.Context) (_ float64, err error) {
	d, err := b.startDocker(ctx, filepath.Join(b.dir, "docker-calls"))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, d.stop()) }()
	var took []float64
	for i := range callRuns {
		began := time.Now()
		if err := d.run(ctx, i); err != nil {
			return 0, err
		}
		took = append(took, time.Since(began).Seconds())
	}
	slices.Sort(took)
	return took[len(took)/2], nil
}
