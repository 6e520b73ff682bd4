package main

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

// bulkLook is how often a bulk action that is waited for is looked at.
const bulkLook = 500 * time.Millisecond

// bulkOptions are the flags of `ostraka bulk start`.
type bulkOptions struct {
	outputFlag
	terminal *terminal
	server   *serverFlags
	reason   string
	like     string
	job      string
	agent    string
	ids      []string
	all      bool
	yes      bool
	dryRun   bool
	wait     bool

	kind, rule, function, state, owner string
}

func newBulkStart(t *terminal, server *serverFlags) *cobra.Command {
	o := &bulkOptions{terminal: t, server: server}
	cmd := &cobra.Command{
		Use: "start {flags|jobs|agents} ACTION --reason TEXT {FILTER|--all}", Short: "Do one thing to many flags, jobs or agents", Args: arguments(2), DisableFlagsInUseLine: true,
		Long: `Do one thing to many flags (reject, rerun, recheck, pardon, dismiss), jobs (cancel, delete, archive) or agents
of the project (admit, exclude). What it is about is chosen now: all that match the filter and to which it can
be done. Each is then decided by the guardian, done and recorded as if it had been asked for alone, with the
rights of your key; it takes a key that may do the same to one. A filter must say which; --all means all of
them. To delete, reject or cancel asks first, and says how many it would be. With --wait the exit code is 1
when something failed or the bulk action was cancelled.`,
		Example: `  ostraka bulk start flags dismiss --like FLAG --reason noise --dry-run
  ostraka bulk start flags dismiss --like FLAG --reason noise --wait
  ostraka bulk start jobs cancel --function bpsw --reason "wrong input" --yes
  ostraka bulk start agents exclude --owner ann --reason "answers differ"`,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args[0], args[1]) },
	}
	f := cmd.Flags()
	o.register(f)
	f.StringVar(&o.reason, "reason", "", "why, for the audit log")
	f.StringVar(&o.like, "like", "", "flags of the kind, the rule and the function of this flag")
	f.StringSliceVar(&o.ids, "id", nil, "these, and no others; may be given again, up to 1000 times")
	f.StringVar(&o.kind, "kind", "", "flags of this kind")
	f.StringVar(&o.rule, "rule", "", "flags that this rule has raised")
	f.StringVar(&o.function, "function", "", "flags about this function and its jobs; jobs of this function")
	f.StringVar(&o.job, "job", "", "flags of this job; a part of its ID will do, or @last")
	f.StringVar(&o.agent, "agent", "", "flags about this agent")
	f.StringVar(&o.state, "state", "", "jobs or agents in this state")
	f.StringVar(&o.owner, "owner", "", "agents of this owner")
	f.BoolVar(&o.all, "all", false, "all of them, without a filter")
	f.BoolVar(&o.yes, "yes", false, "do not ask")
	f.BoolVar(&o.dryRun, "dry-run", false, "say to how many it would be done, and do nothing")
	f.BoolVar(&o.wait, "wait", false, "wait until it has ended; the exit code is 1 when not all was done")
	return cmd
}

func (o *bulkOptions) run(ctx context.Context, subject, action string) error {
	if err := o.check(); err != nil {
		return err
	}
	if !slices.Contains([]string{"flags", "jobs", "agents"}, subject) {
		return usageError("%q: choose flags, jobs or agents", subject)
	}
	if o.reason == "" {
		return errNoBulkReason()
	}
	c, err := o.server.connectProject()
	if err != nil {
		return err
	}
	body, err := o.request(ctx, c, subject, action)
	if err != nil {
		return err
	}
	if o.dryRun {
		return o.plan(ctx, c, body)
	}
	if err := o.confirm(ctx, c, &body); err != nil {
		return err
	}
	return o.start(ctx, c, body)
}

// start begins the bulk action, and waits for it where that was asked for.
func (o *bulkOptions) start(ctx context.Context, c *connection, body client.BulkRequest) error {
	key := uuid.NewString()
	doc, err := answer.Read[client.BulkActionDetail](c.StartBulkAction(ctx, c.project, &client.StartBulkActionParams{IdempotencyKey: &key}, body))
	if err != nil {
		return explain("beginning the bulk action", err)
	}
	return printBegun(ctx, o.terminal, c, &o.outputFlag, doc, o.wait)
}

func errNoBulkReason() error {
	return usageError("why? Say it with --reason TEXT; it goes into the audit log with each item")
}

// bulkOutcome is an error where not all of a bulk action was done.
func bulkOutcome(b client.BulkActionDetail) error {
	hint := fmt.Sprintf("ostraka bulk retry %s does again what was not done", b.ID)
	switch {
	case b.State == client.BulkActionDetailStateCancelled:
		return &exitError{code: exitFailed, err: fmt.Errorf("the bulk action was cancelled: %d of %d done", b.Done, b.Total), hint: hint}
	case b.Failed > 0:
		return &exitError{code: exitFailed, err: fmt.Errorf("%d of %d failed", b.Failed, b.Total), hint: hint}
	}
	return nil
}

// bulkLosses are the actions by which work or results are lost, as they are asked about.
var bulkLosses = map[string]string{"delete": "deleting", "reject": "rejecting", "cancel": "cancelling"}

// confirm says how many would lose something, and asks whether that is meant. A yes is for that number: where more match by then, nothing is done.
func (o *bulkOptions) confirm(ctx context.Context, c *connection, body *client.BulkRequest) error {
	doing, asks := bulkLosses[body.Action]
	if !asks || o.yes {
		return nil
	}
	doc, err := planBulk(ctx, c, *body)
	if err != nil {
		return err
	}
	body.Expected = &doc.Value.Total
	return o.terminal.confirm(ctx, false, doing+" "+count(doc.Value.Total, one(string(body.Subject))))
}

// request is what the flags say.
func (o *bulkOptions) request(ctx context.Context, c *connection, subject, action string) (client.BulkRequest, error) {
	r := client.BulkRequest{Subject: client.BulkRequestSubject(subject), Action: action, Reason: o.reason}
	if o.kind != "" && !slices.Contains(flagKinds(), o.kind) {
		return r, usageError("--kind %q: choose one of %s", o.kind, strings.Join(flagKinds(), ", "))
	}
	filter, err := o.filter(ctx, c, subject)
	if err != nil {
		return r, err
	}
	r.Filter = filter
	switch empty := reflect.ValueOf(filter).IsZero(); {
	case empty && !o.all:
		return r, usageError("to which %s? Say it with a filter such as --id, or with --all", subject)
	case !empty && o.all:
		return r, usageError("--all takes no filter: leave one of them out")
	case o.all:
		r.All = true
	}
	return r, nil
}

func (o *bulkOptions) filter(ctx context.Context, c *connection, subject string) (client.BulkFilter, error) {
	f := client.BulkFilter{Kind: o.kind, Rule: o.rule, Function: o.function, State: o.state, Owner: o.owner}
	for _, text := range o.ids {
		id, err := o.find(ctx, c, one(subject), text)
		if err != nil {
			return f, err
		}
		f.Ids = append(f.Ids, id)
	}
	for _, id := range []struct {
		what, text string
		into       **uuid.UUID
	}{{"flag", o.like, &f.Like}, {"job", o.job, &f.Job}, {"agent", o.agent, &f.Agent}} {
		if id.text == "" {
			continue
		}
		found, err := o.find(ctx, c, id.what, id.text)
		if err != nil {
			return f, err
		}
		*id.into = &found
	}
	return f, nil
}

// find reads an ID; that of a job may be given in part.
func (o *bulkOptions) find(ctx context.Context, c *connection, what, text string) (uuid.UUID, error) {
	if what == "job" {
		return findJob(ctx, c, text)
	}
	return parseID(what, text)
}

// planBulk counts what a bulk action would be about.
func planBulk(ctx context.Context, c *connection, body client.BulkRequest) (answer.Document[client.BulkPlan], error) {
	doc, err := answer.Read[client.BulkPlan](c.PlanBulkAction(ctx, c.project, nil, body))
	return doc, explain("planning the bulk action", err)
}

func (o *bulkOptions) plan(ctx context.Context, c *connection, body client.BulkRequest) error {
	doc, err := planBulk(ctx, c, body)
	if err != nil {
		return err
	}
	fields := [][2]string{{"would", body.Action + " " + count(doc.Value.Total, one(string(body.Subject)))}}
	for _, id := range doc.Value.First {
		fields = append(fields, [2]string{one(string(body.Subject)), id.String()})
	}
	return printOne(o.terminal, &o.outputFlag, doc.Raw, fields)
}

// waitForBulk looks at a bulk action until it has ended.
func waitForBulk(ctx context.Context, t *terminal, c *connection, doc answer.Document[client.BulkActionDetail]) (answer.Document[client.BulkActionDetail], error) {
	id := doc.Value.ID
	for tries := newRetries(); doc.Value.State == client.BulkActionDetailStateRunning; {
		select {
		case <-ctx.Done():
			return doc, stopped(t, ctx.Err(), "the bulk action continues. To look at it, or to stop it:\n  ostraka bulk show %s\n  ostraka bulk cancel %s", id, id)
		case <-time.After(bulkLook):
		}
		next, err := answer.Read[client.BulkActionDetail](c.GetBulkAction(ctx, c.project, id))
		switch {
		case err == nil:
			doc = next
			tries.reset()
		case ctx.Err() != nil: // the next round says so
		case !answer.Temporary(err) || !tries.again(ctx):
			return doc, explain("getting the bulk action", err)
		}
	}
	return doc, nil
}
