package main

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

// jobRunOptions are the flags of `ostraka job run`.
type jobRunOptions struct {
	outputFlag
	terminal *terminal
	server   *serverFlags

	function       string
	version        int64
	input          inputFlags
	policy         policyFlags
	priority       priorityFlag
	aggregator     string
	params         string
	validator      validatorFlags
	heuristics     string
	controls       string
	wait           bool
	timeout        time.Duration
	idempotencyKey string
	zeroIsGiven    bool // --version 0 was written, which is not leaving it out
}

func newJobRun(t *terminal, server *serverFlags) *cobra.Command {
	o := &jobRunOptions{terminal: t, server: server}
	cmd := &cobra.Command{
		Use:   "run FUNCTION",
		Short: "Run a function over a range, items, lines, a grid or files",
		Long: `Run a function over a range of integers, cut into shards; over a file of items, one JSON value a
line, each of which is a shard unless --shard-size or the function says otherwise; over the lines of a text; over every combination of some lists; or
over files of the project (ostraka file put), which the function finds in $OSTRAKA_INPUT.

Jobs of a project take turns, so that a small one does not wait for a large one: --priority says how
large a share this one has.

With --wait the command ends when the job does, and its exit code says how: 0 when the
answer stands, 1 when the job failed or agents do not agree. Ctrl-C stops waiting, not the job.`,
		Example: `  ostraka job run bpsw --range 2^64:2^64+10^6 --shard-size 5000 --wait
  ostraka job run resize --items photos.jsonl --quorum 3
  ostraka job run bpsw --range 0:10^9 --shard-size 5000 --target-error 0.0001 --assume-hostile 0.2
  ostraka job run grep --lines access.log.gz --shard-size 1000 --aggregator concat
  ostraka job run train --grid 'alpha=[0.1,0.5]' --grid 'seed=[1,2,3]'
  ostraka job run prove --from-job @last
  ostraka job run score --items molecules.jsonl --controls known.jsonl
  ostraka job run words --objects-prefix texts/2024/ --per-shard 10
  ostraka job run count --items - --no-verify --aggregator sum --wait -o json | jq .aggregate.value`,
		Args: arguments(1), ValidArgsFunction: server.complete(functionNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.function = args[0]
			o.zeroIsGiven = cmd.Flags().Changed("version") && o.version == 0
			return o.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	o.register(f)
	o.input.register(t, f)
	o.policy.register(f)
	o.priority.register(f)
	f.StringVar(&o.aggregator, "aggregator", "", "what folds the results: sum, count, min, max, concat, merge, none, or a module of yours; left out: what the function says")
	f.StringVar(&o.params, "params", "", "parameters of the aggregator, a JSON object")
	o.validator.register(f)
	f.StringVar(&o.heuristics, "heuristics", "", "what looks at the results, besides what the project asks for: a file of JSON (see docs/modules.md) or none; left out: what the function says")
	f.StringVar(&o.controls, "controls", "", controlsUsage)
	f.Int64Var(&o.version, "version", 0, "which version of the function; left out: the newest")
	f.BoolVar(&o.wait, "wait", false, "wait until the job ends")
	f.DurationVar(&o.timeout, "timeout", 0, "how long to wait at most, for example 10m; the job goes on")
	f.StringVar(&o.idempotencyKey, "idempotency-key", "", "the same key submits the same job once, however often it is sent")
	return cmd
}

func (o *jobRunOptions) run(ctx context.Context) error {
	request, err := o.request()
	if err != nil {
		return err
	}
	c, err := o.server.connectProject()
	if err != nil {
		return err
	}
	if err := o.input.store(ctx, o.terminal, c, &request.Partition); err != nil {
		return err
	}
	job, err := submitJob(ctx, c, request, o.idempotencyKey)
	if err != nil {
		return err
	}
	o.input.told(job.Value.Partition)
	warn(o.terminal, job.Value.Warnings)
	warnStuck(ctx, o.terminal, c, job.Value.ID)
	if !o.wait {
		return showJob(o.terminal, &o.outputFlag, job.Raw, job.Value)
	}
	return o.await(ctx, c, job.Value.ID)
}

// request makes the request of the flags; items are added when they are stored.
func (o *jobRunOptions) request() (r client.JobRequest, err error) {
	if err := o.check(); err != nil {
		return r, err
	}
	switch {
	case o.version < 0 || o.zeroIsGiven:
		return r, usageError("--quorum and --version count from 1")
	case o.timeout < 0 || o.timeout > 0 && !o.wait:
		return r, usageError("--timeout is how long to --wait")
	case o.params != "" && o.aggregator == "":
		return r, usageError("--params are for the --aggregator: name it")
	}
	r = client.JobRequest{Function: o.function, Version: o.version}
	if r.Policy, err = o.policy.request(); err != nil {
		return r, err
	}
	if r.Priority, err = o.priority.request(); err != nil {
		return r, err
	}
	if r.Validator, err = o.validator.request(); err != nil {
		return r, err
	}
	if r.Heuristics, err = readHeuristics(o.heuristics); err != nil {
		return r, err
	}
	if r.Controls, err = readControls(o.controls); err != nil {
		return r, err
	}
	if o.aggregator != "" {
		r.Aggregator = &client.AggregatorRequest{Module: o.aggregator}
	}
	if o.params != "" {
		if !json.Valid([]byte(o.params)) {
			return r, usageError("--params is not JSON: write for example --params '{\"limit\": 10}'")
		}
		r.Aggregator.Params = json.RawMessage(o.params)
	}
	r.Partition, err = o.input.partition()
	return r, err
}

// submitJob submits a job once, even when the answer is lost on the way.
func submitJob(ctx context.Context, c *connection, request client.JobRequest, key string) (doc answer.Document[client.Job], err error) {
	if key == "" {
		key = uuid.NewString()
	}
	for tries := newRetries(); ; {
		doc, err = answer.Read[client.Job](c.SubmitJob(ctx, c.project, &client.SubmitJobParams{IdempotencyKey: &key}, request))
		if err == nil || !answer.Temporary(err) || !tries.again(ctx) {
			return doc, explain("submitting the job", err)
		}
	}
}

// await waits for the job and prints it.
func (o *jobRunOptions) await(ctx context.Context, c *connection, id uuid.UUID) error {
	waiting := ctx
	if o.timeout > 0 {
		var cancel context.CancelFunc
		waiting, cancel = context.WithTimeout(ctx, o.timeout)
		defer cancel()
	}
	o.terminal.say("job %s", id)
	w := &watcher{c: c, job: id, progress: newProgress(o.terminal, o.function), stopAtReview: true}
	if err := w.follow(waiting); err != nil {
		return stoppedWaiting(o.terminal, id, err)
	}
	doc, err := getJob(ctx, c, id)
	if err != nil {
		return err
	}
	if err := showJob(o.terminal, &o.outputFlag, doc.Raw, doc.Value); err != nil {
		return err
	}
	mentionFlags(ctx, o.terminal, c, id)
	return outcome(doc.Value)
}
