package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

func newJobChain(t *terminal, server *serverFlags) *cobra.Command {
	var output outputFlag
	cmd := &cobra.Command{
		Use: "chain JOB", Short: "Show what follows what, and why", Args: arguments(1), ValidArgsFunction: server.complete(jobIDs),
		Long: `Show the job that somebody submitted with all that followed, and at the end of each what every rule came to: which
fired on which values, what a planner said, and which led to nothing and why.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := output.check(); err != nil {
				return err
			}
			c, id, err := server.connectAbout(cmd.Context(), "job", args[0])
			if err != nil {
				return err
			}
			doc, err := answer.Read[client.JobChain](c.GetJobChain(cmd.Context(), c.project, id))
			if err != nil {
				return explain("getting the chain", err)
			}
			if output.json() {
				return writeJSON(t.out, doc.Raw)
			}
			return printChain(t.out, doc.Value)
		},
	}
	output.register(cmd.Flags())
	return cmd
}

// printChain prints a tree: each job, and below it what rules came to and the jobs that followed.
func printChain(out io.Writer, c client.JobChain) error {
	for _, j := range c.Jobs {
		indent := strings.Repeat("  ", int(j.Depth))
		if _, err := fmt.Fprintf(out, "%s%s  %s@%d  %s  %s  by %s\n", indent, j.ID, plain(j.Function), j.Version, count(j.Shards, "shard"), j.State, plain(j.CreatedBy)); err != nil {
			return err
		}
		for _, d := range c.Decisions {
			if d.Job != j.ID {
				continue
			}
			if _, err := fmt.Fprintf(out, "%s  rule %s: %s\n", indent, plain(d.Name), decisionText(string(d.Outcome), d.Reason, d.Detail, d.Seen)); err != nil {
				return err
			}
		}
	}
	return nil
}

// decisionText says in one line what a rule came to, or would.
func decisionText(outcome, reason, detail string, seen map[string]string) string {
	text := outcome
	if reason != "" {
		text += " (" + reason + ")"
	}
	if detail != "" {
		text += ": " + plain(detail)
	}
	var values []string
	for _, name := range slices.Sorted(maps.Keys(seen)) {
		values = append(values, name+"="+plain(seen[name]))
	}
	if len(values) > 0 {
		text += "  [" + strings.Join(values, " ") + "]"
	}
	return text
}

func newJobFollowUp(t *terminal, server *serverFlags) *cobra.Command {
	return &cobra.Command{
		Use: "follow-up JOB", Short: "Have the rules decide about an ended job again", Args: arguments(1), ValidArgsFunction: server.complete(jobIDs),
		Long: `Have the rules decide again about a job that has an answer: after a rule or a planner was corrected, or a limit
left room again. What follows already is not made again, and a planner that has answered is not asked again.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, id, err := server.connectAbout(cmd.Context(), "job", args[0])
			if err != nil {
				return err
			}
			if _, err := answer.Read[struct{}](c.FollowUpAgain(cmd.Context(), c.project, id, nil)); err != nil {
				return explain("following up the job", err)
			}
			t.say("the rules decide again: ostraka job chain %s", id)
			return nil
		},
	}
}

func newRuleTest(t *terminal, server *serverFlags) *cobra.Command {
	var output outputFlag
	var file, job string
	cmd := &cobra.Command{
		Use: "test [RULE] --job JOB", Short: "Say which jobs a rule would make of an ended job", ValidArgsFunction: server.complete(ruleIDs),
		Long: `Say what a rule, or every rule of the project, would come to at the end of a job that came to an answer: which jobs,
on which values, and which would not fire and why. Planners are run; no job is made. What follows the job already is taken
not to be there.`,
		Example: "  ostraka rule test --job JOB\n  ostraka rule test -f rule.json --job JOB",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := output.check(); err != nil {
				return err
			}
			if job == "" || file != "" && len(args) > 0 {
				return usageError("name the job with --job, and at most one rule: its ID, or its file with -f")
			}
			c, id, err := server.connectAbout(cmd.Context(), "job", job)
			if err != nil {
				return err
			}
			rule, err := ruleToTry(cmd.Context(), t, c, file, args)
			if err != nil {
				return err
			}
			body := `{}`
			if rule != nil {
				body = `{"rule":` + string(rule) + `}`
			}
			doc, err := answer.Read[client.RuleTrials](c.TryRulesWithBody(cmd.Context(), c.project, id, nil, "application/json", strings.NewReader(body)))
			if err != nil {
				return explain("trying the rule", err)
			}
			if output.json() {
				return writeJSON(t.out, doc.Raw)
			}
			return printTrials(t.out, doc.Value.Rules)
		},
	}
	output.register(cmd.Flags())
	cmd.Flags().StringVar(&job, "job", "", "the job, which has come to an answer")
	cmd.Flags().StringVarP(&file, "file", "f", "", "a rule as JSON that the server need not have; - is stdin")
	return cmd
}

// ruleToTry is nil where all of the project's are to be tried.
func ruleToTry(ctx context.Context, t *terminal, c *connection, file string, args []string) ([]byte, error) {
	if file != "" {
		return readRule(t, file)
	}
	if len(args) == 0 {
		return nil, nil
	}
	id, err := uuid.Parse(args[0])
	if err != nil {
		return nil, usageError("%q is no ID of a rule: ostraka rule list shows them", args[0])
	}
	doc, err := answer.Read[client.Rule](c.GetRule(ctx, c.project, id))
	if err != nil {
		return nil, explain("getting the rule", err)
	}
	var stored struct {
		Spec json.RawMessage `json:"spec"`
	}
	if err := json.Unmarshal(doc.Raw, &stored); err != nil {
		return nil, fmt.Errorf("reading the rule: %w", err)
	}
	return stored.Spec, nil
}

func printTrials(out io.Writer, rules []client.RuleTrial) error {
	for _, r := range rules {
		if _, err := fmt.Fprintf(out, "rule %s: %s\n", plain(r.Rule), decisionText(string(r.Outcome), r.Reason, r.Detail, r.Seen)); err != nil {
			return err
		}
		for _, j := range r.Jobs {
			if _, err := fmt.Fprintf(out, "  would run %s@%d over %s %s\n", plain(j.Function), j.Version, count(j.Shards, "shard"), plain(j.Key)); err != nil {
				return err
			}
		}
	}
	return nil
}
