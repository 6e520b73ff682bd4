package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

// runPace is how often a command that waits for a run looks at it.
const runPace = time.Second

// workflowStartOptions are the flags of `ostraka workflow start`.
type workflowStartOptions struct {
	outputFlag
	terminal       *terminal
	server         *serverFlags
	name           string
	params         []string
	version        int64
	wait           bool
	timeout        time.Duration
	idempotencyKey string
}

func newWorkflowStart(t *terminal, server *serverFlags) *cobra.Command {
	o := &workflowStartOptions{terminal: t, server: server}
	cmd := &cobra.Command{
		Use: "start NAME", Short: "Start a run of a workflow",
		Long: `Start a run of a workflow. Parameters that are left out have their defaults; integers may be written
as 2^64+10^9. With --wait the command ends when the run does, and its exit code says how: 0 when all steps have
finished, 1 when one failed. Ctrl-C stops waiting, not the run.`,
		Example: `  ostraka workflow start bpsw
  ostraka workflow start bpsw --param from=2^64 --param length=10^9 --wait`,
		Args: arguments(1), ValidArgsFunction: server.complete(workflowNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.name = args[0]
			return o.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	o.register(f)
	f.StringArrayVar(&o.params, "param", nil, "NAME=VALUE, a parameter; ostraka workflow show lists them")
	f.Int64Var(&o.version, "version", 0, "which version of the workflow; left out: the newest")
	f.BoolVar(&o.wait, "wait", false, "wait until the run ends")
	f.DurationVar(&o.timeout, "timeout", 0, "how long to wait at most, for example 10m; the run continues")
	f.StringVar(&o.idempotencyKey, "idempotency-key", "", "the same key starts the same run once, however often it is sent")
	return cmd
}

// parameterFlags reads NAME=VALUE of --param.
func parameterFlags(params []string) (map[string]json.RawMessage, error) {
	list := map[string]json.RawMessage{}
	for _, p := range params {
		name, value, found := strings.Cut(p, "=")
		if !found || name == "" {
			return nil, usageError("--param %q: write NAME=VALUE", p)
		}
		raw, err := json.Marshal(value)
		if err != nil {
			return nil, fmt.Errorf("encoding the parameter %s: %w", name, err)
		}
		list[name] = raw
	}
	return list, nil
}

func (o *workflowStartOptions) run(ctx context.Context) error {
	if err := o.check(); err != nil {
		return err
	}
	if o.timeout != 0 && !o.wait {
		return usageError("--timeout is for --wait")
	}
	parameters, err := parameterFlags(o.params)
	if err != nil {
		return err
	}
	request := client.StartWorkflowRequest{Version: o.version, Parameters: parameters}
	c, err := o.server.connectProject()
	if err != nil {
		return err
	}
	key := firstOf(o.idempotencyKey, uuid.NewString())
	doc, err := answer.Read[client.WorkflowRunDetail](c.StartWorkflow(ctx, c.project, o.name, &client.StartWorkflowParams{IdempotencyKey: &key}, request))
	if err != nil {
		return explain("starting the workflow "+o.name, err)
	}
	if !o.wait {
		return showRun(o.terminal, &o.outputFlag, doc)
	}
	o.terminal.say("run %s", doc.Value.ID)
	if doc, err = o.follow(ctx, c, doc); err != nil {
		return err
	}
	if err := showRun(o.terminal, &o.outputFlag, doc); err != nil {
		return err
	}
	return runOutcome(doc.Value)
}

// follow looks at a run until it has ended, and tells of its steps meanwhile.
func (o *workflowStartOptions) follow(ctx context.Context, c *connection, doc answer.Document[client.WorkflowRunDetail]) (answer.Document[client.WorkflowRunDetail], error) {
	if o.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.timeout)
		defer cancel()
	}
	w := &runWatcher{t: o.terminal, told: map[string]client.RunStepState{}, bars: map[string]*progress{}}
	lastHeard := time.Now()
	for {
		w.show(doc.Value)
		if doc.Value.EndedAt != nil && !underWay(doc.Value) {
			return doc, nil
		}
		select {
		case <-ctx.Done():
			return doc, stoppedRun(o.terminal, doc.Value.ID, ctx.Err())
		case <-time.After(runPace):
		}
		next, err := getRun(ctx, c, doc.Value.ID)
		switch {
		case ctx.Err() != nil:
			return doc, stoppedRun(o.terminal, doc.Value.ID, ctx.Err())
		case err == nil:
			doc, lastHeard = next, time.Now()
		case !answer.Temporary(err) || time.Since(lastHeard) > maxAway:
			return doc, err
		}
	}
}

// underWay tells whether a job of the run has not ended.
func underWay(r client.WorkflowRunDetail) bool {
	for _, s := range r.Steps {
		if s.State == client.RunStepStateRunning {
			return true
		}
	}
	return false
}

// stoppedRun says how to come back to a run.
func stoppedRun(t *terminal, run uuid.UUID, err error) error {
	return stopped(t, err, "the run continues. To look at it, or to stop it:\n  ostraka workflow run %s\n  ostraka workflow cancel %s", run, run)
}

// runWatcher tells of the steps of a run: a bar or lines for the jobs, and a line whenever a step changes.
type runWatcher struct {
	t    *terminal
	told map[string]client.RunStepState
	bars map[string]*progress
}

func (w *runWatcher) show(r client.WorkflowRunDetail) {
	for _, s := range r.Steps {
		if s.Shards != nil && s.State != client.RunStepStateWaiting && w.told[s.Name] != s.State || s.State == client.RunStepStateRunning {
			w.progress(s)
		}
		if w.told[s.Name] == s.State || s.State == client.RunStepStateWaiting {
			continue
		}
		w.told[s.Name] = s.State
		if bar := w.bars[s.Name]; bar != nil && s.State != client.RunStepStateRunning {
			bar.finish()
		}
		w.t.say("step %s", stepLine(s))
	}
}

func (w *runWatcher) progress(s client.RunStep) {
	if s.Shards == nil {
		return
	}
	if w.bars[s.Name] == nil {
		w.bars[s.Name] = newProgress(w.t, plain(s.Name))
	}
	w.bars[s.Name].update(s.Shards.Total-s.Shards.Open, s.Shards.Total)
}

// runOutcome is the error of a run that did not finish.
func runOutcome(r client.WorkflowRunDetail) error {
	switch r.State {
	case client.WorkflowRunDetailStateFailed:
		return &exitError{code: exitFailed, err: fmt.Errorf("run %s failed: %s", r.ID, plain(r.Error)), hint: "ostraka workflow graph " + r.ID.String() + " shows the steps"}
	case client.WorkflowRunDetailStateCancelled:
		return &exitError{code: exitFailed, err: fmt.Errorf("run %s was cancelled", r.ID), hint: "start another one: ostraka workflow start " + r.Workflow}
	default:
		return nil
	}
}
