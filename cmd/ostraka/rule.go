package main

import (
	"bytes"
	"context"
	"errors"
	"net/http"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

// maxRuleBytes is the largest file of a rule, in bytes, as the server has it.
const maxRuleBytes = 1 << 20

func newRule(t *terminal, server *serverFlags) *cobra.Command {
	return noun("rule", "Rules, which start follow-up jobs",
		newRuleCreate(t, server), newRuleList(t, server), newRuleGet(t, server), newRuleTest(t, server), newRuleDelete(t, server))
}

func newRuleCreate(t *terminal, server *serverFlags) *cobra.Command {
	var output outputFlag
	var file string
	cmd := &cobra.Command{
		Use: "create -f FILE", Short: "Create a rule from a JSON file",
		Long: `Create a rule from a JSON file (- is stdin). When a job finishes and "when" holds, the rule starts
the job that "then" describes. Both expressions are CEL, and are checked at once.`,
		Example: "  ostraka rule create -f examples/rules/prove-sample.json",
		Args:    arguments(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := output.check(); err != nil {
				return err
			}
			spec, err := readRule(t, file)
			if err != nil {
				return err
			}
			c, err := server.connectProject()
			if err != nil {
				return err
			}
			doc, err := createRule(cmd.Context(), c, spec)
			if err != nil {
				return err
			}
			if err := showRule(t, &output, doc); err != nil {
				return err
			}
			return warnOfMissing(cmd.Context(), t, c, doc.Value)
		},
	}
	output.register(cmd.Flags())
	cmd.Flags().StringVarP(&file, "file", "f", "", "the rule as JSON; - is stdin")
	return cmd
}

func readRule(t *terminal, file string) ([]byte, error) {
	if file == "" {
		return nil, usageError("which rule? give its file with -f; - is stdin")
	}
	return readJSONFile(t, file, "rule", maxRuleBytes)
}

func createRule(ctx context.Context, c *connection, spec []byte) (answer.Document[client.Rule], error) {
	key := uuid.NewString()
	doc, err := answer.Read[client.Rule](c.CreateRuleWithBody(ctx, c.project, &client.CreateRuleParams{IdempotencyKey: &key}, "application/json", bytes.NewReader(spec)))
	return doc, explain("creating the rule", err)
}

// warnOfMissing says that a rule names functions that are not there. It may: they may come later, and until then it does nothing.
func warnOfMissing(ctx context.Context, t *terminal, c *connection, r client.Rule) error {
	names := []string{r.Spec.Then.Function}
	if on := r.Spec.OnFunction; on != "" && on != names[0] {
		names = append(names, on)
	}
	for _, name := range names {
		_, err := answer.Read[client.FunctionVersion](c.GetFunction(ctx, c.project, name))
		switch {
		case isNotFound(err):
			t.say("there is no function %s yet: the rule does nothing until it is pushed", name)
		case err != nil:
			return explain("looking for the rule's functions", err)
		}
	}
	return nil
}

func showRule(t *terminal, o *outputFlag, doc answer.Document[client.Rule]) error {
	r := doc.Value
	on := firstOf(r.Spec.OnFunction, "any function")
	return printOne(t, o, doc.Raw, [][2]string{
		{"rule", r.ID.String()},
		{"name", r.Spec.Name},
		{"enabled", yes(r.Spec.Enabled)},
		{"on", on},
		{"when", r.Spec.When},
		{"then run", r.Spec.Then.Function},
		{"over", r.Spec.Then.Partition},
		{"planned by", r.Spec.Then.Planner},
		{"created", shortTime(r.CreatedAt)},
	})
}

func newRuleList(t *terminal, server *serverFlags) *cobra.Command {
	return newList(server, "List rules", func(ctx context.Context, c *connection, l *listFlags) error {
		return show(t, l, "listing rules", []string{"RULE", "NAME", "ENABLED", "ON", "THEN"},
			func(r client.Rule) []string {
				return []string{r.ID.String(), r.Spec.Name, yes(r.Spec.Enabled), firstOf(r.Spec.OnFunction, "any"), r.Spec.Then.Function}
			},
			func(cursor *string, size *int64) (*http.Response, error) {
				return c.ListRules(ctx, c.project, &client.ListRulesParams{Cursor: cursor, Limit: size})
			})
	})
}

func newRuleGet(t *terminal, server *serverFlags) *cobra.Command {
	var output outputFlag
	cmd := &cobra.Command{
		Use: "get RULE", Short: "Show a rule", Args: arguments(1), ValidArgsFunction: server.complete(ruleIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := output.check(); err != nil {
				return err
			}
			c, id, err := server.connectAbout(cmd.Context(), "rule", args[0])
			if err != nil {
				return err
			}
			doc, err := answer.Read[client.Rule](c.GetRule(cmd.Context(), c.project, id))
			if err != nil {
				return explain("getting the rule", err)
			}
			return showRule(t, &output, doc)
		},
	}
	output.register(cmd.Flags())
	return cmd
}

func newRuleDelete(t *terminal, server *serverFlags) *cobra.Command {
	return &cobra.Command{
		Use: "delete RULE", Short: "Delete a rule; jobs that it started stay", Args: arguments(1), ValidArgsFunction: server.complete(ruleIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, id, err := server.connectAbout(cmd.Context(), "rule", args[0])
			if err != nil {
				return err
			}
			if err := deleteRule(cmd.Context(), c, id); err != nil {
				return explain("deleting the rule", err)
			}
			t.say("deleted the rule %s", id)
			return nil
		},
	}
}

// deleteRule deletes the rule as it is now. Somebody who changes it in between is not overruled.
func deleteRule(ctx context.Context, c *connection, id uuid.UUID) error {
	doc, err := answer.Read[client.Rule](c.GetRule(ctx, c.project, id))
	if err != nil {
		return err
	}
	tag := doc.Header.Get("ETag")
	if tag == "" {
		return errors.New("the server sent no ETag with the rule")
	}
	_, err = answer.Read[struct{}](c.DeleteRule(ctx, c.project, id, &client.DeleteRuleParams{IfMatch: &tag}))
	return err
}
