package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

// jobPlanOptions are the flags of `ostraka job plan`.
type jobPlanOptions struct {
	outputFlag
	terminal *terminal
	server   *serverFlags
	input    inputFlags
	policy   policyFlags
	version  int64
	controls string
}

func newJobPlan(t *terminal, server *serverFlags) *cobra.Command {
	o := &jobPlanOptions{terminal: t, server: server}
	cmd := &cobra.Command{
		Use: "plan FUNCTION", Short: "Say what a job would take, and what its answer would be worth",
		Long: `Say what a job would take with the agents at hand: executions for each shard, rechecks by the server,
and the largest share of wrong results that is to be expected. Nothing is submitted.`,
		Example: "  ostraka job plan bpsw --range 0:10^9 --shard-size 5000 --target-error 0.0001",
		Args:    arguments(1), ValidArgsFunction: server.complete(functionNames),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args[0]) },
	}
	f := cmd.Flags()
	o.register(f)
	o.input.register(t, f)
	o.policy.register(f)
	f.StringVar(&o.controls, "controls", "", controlsUsage)
	f.Int64Var(&o.version, "version", 0, "which version of the function; left out: the newest")
	return cmd
}

func (o *jobPlanOptions) run(ctx context.Context, function string) (err error) {
	if err := o.check(); err != nil {
		return err
	}
	r := client.JobRequest{Function: function, Version: o.version}
	if r.Policy, err = o.policy.request(); err != nil {
		return err
	}
	if r.Controls, err = readControls(o.controls); err != nil {
		return err
	}
	if r.Partition, err = o.input.partition(); err != nil {
		return err
	}
	c, err := o.server.connectProject()
	if err != nil {
		return err
	}
	if err := o.input.store(ctx, o.terminal, c, &r.Partition); err != nil {
		return err
	}
	doc, err := answer.Read[client.JobPlan](c.PlanJob(ctx, c.project, nil, r))
	if err != nil {
		return explain("planning the job", err)
	}
	warn(o.terminal, doc.Value.Warnings)
	return printOne(o.terminal, &o.outputFlag, doc.Raw, planFields(doc.Value))
}

// rechecksText says what servers would execute, how long it would take them, and how long they may today.
func rechecksText(p client.JobPlan) string {
	text := fmt.Sprintf("%.0f by the server", p.Forecast.Rechecks)
	if p.RecheckSeconds != nil && p.Forecast.Rechecks > 0 {
		text += fmt.Sprintf(", about %.3g s", *p.RecheckSeconds)
	}
	if b := p.RecheckBudget; b.PerDay > 0 {
		text += fmt.Sprintf("; %.3g s of the project's %d s are left today", b.Left, b.PerDay)
	}
	return text
}

func planFields(p client.JobPlan) [][2]string {
	f := p.Forecast
	fields := [][2]string{
		{"function", fmt.Sprintf("%s version %d", p.Function, p.Version)},
		{"verification", policyText(p.Policy)},
		{"shards", fmt.Sprint(p.Shards)},
		{"agents", fmt.Sprintf("%d, of %d owners", p.Agents, f.Owners)},
		{"executions", fmt.Sprintf("%.3g a shard; %.3g if as many results as assumed are hostile", f.ExecutionsPerShard, f.WorstExecutionsPerShard)},
		{"rechecks", rechecksText(p)},
		{"error bound", fmt.Sprintf("at most %.2g of the results are wrong, with %g hostile", f.ErrorBound, f.AssumeHostile)},
		{"any wrong", answerRiskText(f.AnswerRisk)},
		{"how", strings.Join(f.Notes, "; ")},
	}
	if p.Controls > 0 {
		fields = append(fields, [2]string{"controls", count(p.Controls, "execution") + " more, one for each control at least"})
	}
	if p.Caught > 0 {
		fields = append(fields, [2]string{"caught", fmt.Sprintf("%d of %d agents were caught and get no leases: ostraka agent list", p.Caught, p.Caught+p.Agents)})
	}
	if f.Stuck {
		fields = append(fields, [2]string{"attention", "the agents at hand cannot bring this job to its end"})
	}
	return fields
}
