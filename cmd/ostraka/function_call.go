package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

// longestCallWait is how long one request of a call waits at most, as the server has it.
const longestCallWait = time.Minute

// functionCallOptions are the flags of `ostraka function call`.
type functionCallOptions struct {
	outputFlag
	terminal       *terminal
	server         *serverFlags
	name           string
	input          string
	version        int64
	policy         policyFlags
	wait           time.Duration
	idempotencyKey string
}

func newFunctionCall(t *terminal, server *serverFlags) *cobra.Command {
	o := &functionCallOptions{terminal: t, server: server}
	cmd := &cobra.Command{
		Use:   "call NAME --input JSON",
		Short: "Call a function once, and print its verified output",
		Long: `Call a function with one input and wait for its output, which is printed as it is. How it was verified
is said on stderr. A call is a job of one shard: when the time of --wait is up, or after Ctrl-C, it goes on.`,
		Example: `  ostraka function call collatz --input '{"from": 1, "to": 1000}'
  ostraka function call square --input 12 --quorum 2 --wait 1m
  ostraka function call grep --input - -o json <question.json | jq .executions`,
		Args: arguments(1), ValidArgsFunction: server.complete(functionNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.name = args[0]
			return o.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	o.register(f)
	f.StringVar(&o.input, "input", "", "what the handler is given, as JSON; - is stdin")
	f.Int64Var(&o.version, "version", 0, "which version of the function; left out: the newest")
	o.policy.register(f)
	f.DurationVar(&o.wait, "wait", 0, "how long to wait at most, for example 10s; left out: until the output is there")
	f.StringVar(&o.idempotencyKey, "idempotency-key", "", "the same key is the same call, however often it is sent")
	return cmd
}

func (o *functionCallOptions) run(ctx context.Context) error {
	request, err := o.request()
	if err != nil {
		return err
	}
	c, err := o.server.connectProject()
	if err != nil {
		return err
	}
	doc, err := o.await(ctx, c, request)
	if err != nil {
		return err
	}
	return o.show(ctx, c, doc)
}

func (o *functionCallOptions) request() (r client.CallRequest, err error) {
	if err := o.check(); err != nil {
		return r, err
	}
	if o.version < 0 || o.wait < 0 {
		return r, usageError("--version counts from 1, and --wait is a time such as 10s")
	}
	input := []byte(o.input)
	if o.input == "-" {
		if input, err = io.ReadAll(o.terminal.in); err != nil {
			return r, fmt.Errorf("reading the input: %w", err)
		}
	}
	if !json.Valid(input) {
		return r, usageError("--input is not JSON: write for example --input '{\"n\": 10}', or --input '\"text\"'")
	}
	r = client.CallRequest{Input: input, Version: o.version}
	r.Policy, err = o.policy.request()
	return r, err
}

// await sends the same call until its output is there: a call that is known already is waited for.
func (o *functionCallOptions) await(ctx context.Context, c *connection, request client.CallRequest) (doc answer.Document[client.Call], err error) {
	if o.idempotencyKey == "" {
		o.idempotencyKey = uuid.NewString()
	}
	began := time.Now()
	for tries := newRetries(); ; {
		wait := callWait(o.wait, time.Since(began))
		params := &client.CallFunctionParams{IdempotencyKey: &o.idempotencyKey, Wait: &wait}
		doc, err = answer.Read[client.Call](c.CallFunction(ctx, c.project, o.name, params, request))
		switch {
		case err != nil && answer.Temporary(err) && tries.again(ctx):
			continue
		case errors.Is(err, context.Canceled):
			o.terminal.say("stopped waiting; the job goes on, and is among those of: ostraka job list --function %s", o.name)
			return doc, &exitError{code: exitInterrupted, err: fmt.Errorf("stopped waiting: %w", errSaid)}
		case errors.Is(err, answer.Code("call_failed")):
			return doc, failedCall(err)
		case err != nil:
			return doc, explain("calling "+o.name, err)
		case doc.Value.State == client.JobStateFinished:
			return doc, nil
		case doc.Value.State == client.JobStateReview:
			return doc, &exitError{
				code: exitFailed, err: errors.New("agents do not agree on the output: a person must decide"),
				hint: fmt.Sprintf("ostraka job shard %s 0 shows what they say, for ostraka job resolve", doc.Value.Job),
			}
		case o.wait > 0 && time.Since(began) >= o.wait:
			return doc, stoppedWaiting(o.terminal, doc.Value.Job, context.DeadlineExceeded)
		}
		tries.reset()
	}
}

// callWait is how long the next request waits, where the call has waited for a while.
func callWait(total, waited time.Duration) string {
	if total == 0 {
		return longestCallWait.String()
	}
	return max(0, min(longestCallWait, total-waited)).String()
}

// failedCall is the error of a call whose function failed.
func failedCall(err error) error {
	var problem *answer.Error
	if !errors.As(err, &problem) {
		return err
	}
	return &exitError{code: exitFailed, err: problemText(problem), hint: hintOfProblem(problem)}
}

func (o *functionCallOptions) show(ctx context.Context, c *connection, doc answer.Document[client.Call]) error {
	if o.json() {
		return writeJSON(o.terminal.out, doc.Raw)
	}
	call := doc.Value
	text := fmt.Sprintf("job %s: %s; %s", call.Job, policyText(call.Policy), count(call.Executions, "execution"))
	if call.Bound != nil {
		text += fmt.Sprintf("; wrong with a probability of at most %g", *call.Bound)
	}
	o.terminal.say("%s", text)
	if call.OutputObject != "" {
		return getObject(ctx, o.terminal, c, call.OutputObject, "")
	}
	_, err := o.terminal.out.Write(append(quiet(call.Output), '\n'))
	return err
}
