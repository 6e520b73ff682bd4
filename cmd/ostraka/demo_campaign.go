//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/agent/liar"
	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
	"github.com/ostraka/ostraka/examples"
	"github.com/ostraka/ostraka/functions/workflow/graph"
)

const (
	// campaignWorkflow is the example that the campaign runs.
	campaignWorkflow = "workflow-bpsw"
	// campaignHonest is for how many results a liar is honest: each kind is patient, so that none is found out by its first result.
	campaignHonest = 5
	// campaignLimit only ends a campaign that hangs: it takes some minutes on two processors.
	campaignLimit = time.Hour
)

// campaignForm says how large a campaign is, and what is known of its range.
type campaignForm struct {
	from, length    string
	size, countSize string // integers of a shard of the search, and of the sieve
	known           int    // primes of the range
	source          string // who says so
	agents, liars   int    // three in ten lie
}

// campaignWhole is the range above 2^64, where no list of pseudoprimes reaches.
func campaignWhole() campaignForm {
	return campaignForm{
		from: "2^64", length: "10^7", size: "10^4", countSize: "5*10^6", known: 225121,
		source: "pi(2^64+10^7) - pi(2^64), by primecount", agents: 20, liars: 6,
	}
}

// campaignSmall takes a fraction of a minute: below 10^13 the sieve has next to nothing to do.
func campaignSmall() campaignForm {
	return campaignForm{
		from: "10^12", length: "2*10^5", size: "500", countSize: "50000", known: 7243,
		source: "a sieve of Eratosthenes elsewhere", agents: 10, liars: 3,
	}
}

func newDemoCampaign(t *terminal) *cobra.Command {
	var python string
	var small bool
	cmd := &cobra.Command{
		Use:   "campaign",
		Short: "Watch a campaign above 2^64 end right although three agents in ten lie",
		Long: `Search [2^64, 2^64+10^7) for what passes the Baillie-PSW test, on twenty agents of which six lie, each in
its own way. The workflow is examples/workflow-bpsw: a search by the test, a count by a sieve that tests no
number, the identity of the two, a sample of the findings decided with evidence, and a document. What it
comes to is compared with what is known; the evidence and the receipt of the search are verified without the
server; every liar must have been found out, and nobody else. It takes some minutes, exits with 0 only
when all of that is so, and leaves nothing behind. --small takes a shorter range below, and fewer agents.`,
		Example: "  ostraka demo campaign\n  ostraka demo campaign --small",
		Args:    arguments(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			form := campaignWhole()
			if small {
				form = campaignSmall()
			}
			return runCampaign(cmd.Context(), t, form, python)
		},
	}
	cmd.Flags().StringVar(&python, "python", "", pythonUsage)
	cmd.Flags().BoolVar(&small, "small", false, "a range of 200,000 integers from 10^12 on, on ten agents: less than a minute")
	return cmd
}

func runCampaign(ctx context.Context, t *terminal, form campaignForm, python string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, campaignLimit, fmt.Errorf("the campaign took longer than %v", campaignLimit))
	defer cancel()
	c := &campaign{demo: demo{t: t, python: python}, form: form}
	err := c.end(ctx, c.run(ctx))
	if err == nil {
		t.put("\nEverything that was started is stopped and cleaned up.\n")
	}
	return err
}

// campaign is one run of the campaign.
type campaign struct {
	demo
	form campaignForm
	dir  string // for what is written out meanwhile
}

func (c *campaign) run(ctx context.Context) (err error) {
	f := c.form
	c.t.put("Ostraka searches [%s, %s + %s) for primes on %d agents. %d of them lie.\n\n", f.from, f.from, f.length, f.agents, f.liars)
	if c.dir, err = os.MkdirTemp("", "ostraka-demo-"); err != nil {
		return fmt.Errorf("making a folder for the campaign: %w", err)
	}
	defer func() { _ = os.RemoveAll(c.dir) }() // it is in the system's folder for what may be lost
	config := devConfig{Agents: f.agents, Liars: f.liars, LiarKinds: liarKinds(), LieAfter: campaignHonest, Recheck: recheckConfig{Concurrent: 2}}
	if err := c.start(ctx, config); err != nil {
		return fmt.Errorf("starting: %w", err)
	}
	if err := c.push(ctx); err != nil {
		return err
	}
	run, err := c.follow(ctx)
	if err != nil {
		return err
	}
	report, err := c.examine(ctx, run)
	if err != nil {
		return err
	}
	c.t.put("\n%s", report.text())
	if !report.right() {
		return errDemo
	}
	return nil
}

// liarKinds are all ways to cheat.
func liarKinds() (names []string) {
	for _, kind := range liar.Kinds() {
		names = append(names, string(kind))
	}
	return names
}

// push pushes the workflow, and waits until everybody is there who is to work on it.
func (c *campaign) push(ctx context.Context) error {
	dir, err := examples.CopyWorkflow(campaignWorkflow, c.dir)
	if err != nil {
		return err
	}
	folder, err := readWorkflowFolder(dir)
	if err != nil {
		return err
	}
	if _, err := folder.compare(ctx, c.c); err != nil {
		return err
	}
	pushing := &workflowPushOptions{terminal: c.t, folder: dir}
	doc, err := pushing.push(ctx, c.c, folder, c.dev.signer)
	if err != nil {
		return err
	}
	c.t.put("  pushed the workflow %s: %s\n", doc.Value.Name, doc.Value.Description)
	cut, err := c.form.partition()
	if err != nil {
		return err
	}
	policy := client.PolicyRequest{TargetError: 0.001, AssumeHostile: 0.3} // as of the step
	return c.awaitReady(ctx, client.JobRequest{Function: folder.bundles["bpsw"].Manifest.Name, Partition: cut, Policy: &policy}, c.form.agents)
}

// partition is the input of the search.
func (f campaignForm) partition() (client.Partition, error) {
	cut := client.Partition{Kind: "range"}
	for to, text := range map[*string]string{&cut.From: f.from, &cut.To: f.from + "+" + f.length, &cut.Size: f.size} {
		n, err := graph.Integer("range", text)
		if err != nil {
			return cut, err
		}
		*to = n.String()
	}
	return cut, nil
}

// follow starts the run and shows it until it has ended.
func (c *campaign) follow(ctx context.Context) (r client.WorkflowRunDetail, err error) {
	request := client.StartWorkflowRequest{Parameters: map[string]json.RawMessage{}}
	for name, value := range map[string]string{"from": c.form.from, "length": c.form.length, "size": c.form.size, "count_size": c.form.countSize} {
		request.Parameters[name] = json.RawMessage(strconv.Quote(value))
	}
	c.t.put("\n")
	doc, err := answer.Read[client.WorkflowRunDetail](c.c.StartWorkflow(ctx, c.c.project, "bpsw", &client.StartWorkflowParams{}, request))
	if err != nil {
		return r, explain("starting the workflow", err)
	}
	watching := &workflowStartOptions{terminal: c.t}
	if doc, err = watching.follow(ctx, c.c, doc); err != nil {
		return r, err
	}
	return doc.Value, runOutcome(doc.Value)
}

// file is where something is kept until the campaign is over.
func (c *campaign) file(name string) string { return filepath.Join(c.dir, name) }
