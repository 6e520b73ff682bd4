package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

const sureRuleUsage = "though some of the newest 1,000 decisions would have been others"

// shownDifferences is how many decisions that would have been others are shown before somebody says yes to them.
const shownDifferences = 10

// testGuardianRule asks what a rule, as JSON with its name, would have decided differently.
func testGuardianRule(ctx context.Context, c *connection, layer *layerFlag, rule []byte) (answer.Document[client.RuleTest], error) {
	key := uuid.NewString()
	return answer.Read[client.RuleTest](layer.pick(
		func() (*http.Response, error) {
			return c.TestServerGuardianRuleWithBody(ctx, &client.TestServerGuardianRuleParams{IdempotencyKey: &key}, "application/json", bytes.NewReader(rule))
		},
		func() (*http.Response, error) {
			return c.TestGuardianRuleWithBody(ctx, c.project, &client.TestGuardianRuleParams{IdempotencyKey: &key}, "application/json", bytes.NewReader(rule))
		}))
}

// confirmRule shows what a change of rules would have decided differently, and asks whether it is wanted.
func confirmRule(ctx context.Context, t *terminal, c *connection, layer *layerFlag, rule []byte, sure bool) error {
	doc, err := testGuardianRule(ctx, c, layer, rule)
	if err != nil {
		return explain("testing the rule", err)
	}
	other := doc.Value.Differences
	if len(other) == 0 {
		return nil
	}
	t.say("of the newest %s %d would have been others:", count(doc.Value.Decisions, "decision"), len(other))
	for _, d := range other[:min(len(other), shownDifferences)] {
		t.say("  %s, and not %s: %s of %s, %s", d.After, d.Before, d.Operation, firstOf(d.Subject, "everything"), shortTime(d.At))
	}
	if more := len(other) - shownDifferences; more > 0 {
		t.say("  and %d more: ostraka guardian rule test shows all", more)
	}
	switch {
	case sure:
		return nil
	case !t.asks:
		return &exitError{code: exitUsage, err: errors.New("nothing was changed: the rule decides otherwise than was decided lately"), hint: "say --yes if you want that"}
	}
	fmt.Fprint(t.talk, "Type yes to publish the change: ")
	line, err := t.answerTo(ctx)
	if err != nil {
		return fmt.Errorf("reading your answer: %w", err)
	}
	if !strings.EqualFold(strings.TrimSpace(line), "yes") {
		return &exitError{code: exitUsage, err: errors.New("nothing was changed: the answer was not yes")}
	}
	return nil
}

// ruleToPublish is a rule that was tested, in place of the version that was read.
func ruleToPublish(tested []byte, version int64) ([]byte, error) {
	var fields map[string]any
	if err := json.Unmarshal(tested, &fields); err != nil {
		return nil, fmt.Errorf("reading the rule that was tested: %w", err)
	}
	delete(fields, "name") // it is in the address
	fields["replaces"], fields["confirm"] = version, true
	return json.Marshal(fields)
}

func newGuardianRuleSet(t *terminal, server *serverFlags, verb string) *cobra.Command {
	var output outputFlag
	var file string
	var sure bool
	layer := &layerFlag{server: server}
	cmd := &cobra.Command{
		Use: verb + " -f FILE", Short: map[string]string{"create": "Create a rule from a JSON file", "update": "Replace a rule by a JSON file"}[verb],
		Long: `The file (- is stdin) has the fields name, on, when, risk, then, conditions, reason and enabled; docs/guardian.md shows
them all. "when" is CEL and is checked at once.

The rule is tested against the newest 1,000 decisions before it is published. Where some would have been others they are shown,
and it takes your yes: on a terminal you are asked, elsewhere say --yes.`,
		Example: "  ostraka guardian rule " + verb + " -f no-large-jobs.json", Args: arguments(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := output.check(); err != nil {
				return err
			}
			name, trial, err := guardianRuleFile(t, file, "name", "")
			if err != nil {
				return err
			}
			c, err := layer.connect()
			if err != nil {
				return err
			}
			version := int64(0)
			if verb == "update" {
				known, err := readGuardianRule(cmd.Context(), c, layer, name)
				if err != nil {
					return explain("getting the rule", err)
				}
				version = known.Value.Items[0].Version
			}
			if err := confirmRule(cmd.Context(), t, c, layer, trial, sure); err != nil {
				return err
			}
			body, err := ruleToPublish(trial, version)
			if err != nil {
				return err
			}
			doc, err := answer.Read[client.GuardianRule](layer.pick(
				func() (*http.Response, error) {
					return c.SetServerGuardianRuleWithBody(cmd.Context(), name, "application/json", bytes.NewReader(body))
				},
				func() (*http.Response, error) {
					return c.SetGuardianRuleWithBody(cmd.Context(), c.project, name, "application/json", bytes.NewReader(body))
				}))
			if err != nil {
				return explain("storing the rule", err)
			}
			r := doc.Value
			return printOne(t, &output, doc.Raw, [][2]string{{"rule", r.Name}, {"layer", r.Layer}, {"version", strconv.FormatInt(r.Version, 10)}, {"then", r.Then}})
		},
	}
	output.register(cmd.Flags())
	layer.register(cmd.Flags())
	cmd.Flags().StringVarP(&file, "file", "f", "", "the rule as JSON")
	cmd.Flags().BoolVar(&sure, "yes", false, sureRuleUsage)
	return cmd
}

func newGuardianRuleDelete(t *terminal, server *serverFlags) *cobra.Command {
	var output outputFlag
	var sure bool
	layer := &layerFlag{server: server}
	cmd := &cobra.Command{
		Use: "delete RULE", Short: "Delete a rule; its versions are kept", Args: arguments(1), Example: "  ostraka guardian rule delete no-large-jobs",
		Long: `Delete a rule; its versions are kept. Where some of the newest 1,000 decisions would have been others without it they are shown,
and it takes your yes: on a terminal you are asked, elsewhere say --yes.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := output.check(); err != nil {
				return err
			}
			c, err := layer.connect()
			if err != nil {
				return err
			}
			known, err := readGuardianRule(cmd.Context(), c, layer, args[0])
			if err != nil {
				return explain("getting the rule", err)
			}
			version := known.Value.Items[0].Version
			without, err := json.Marshal(map[string]any{"name": args[0], "then": "allow", "reason": "deleted", "enabled": false})
			if err != nil {
				return err
			}
			if err := confirmRule(cmd.Context(), t, c, layer, without, sure); err != nil {
				return err
			}
			_, err = answer.Read[struct{}](layer.pick(
				func() (*http.Response, error) {
					return c.DeleteServerGuardianRule(cmd.Context(), args[0], &client.DeleteServerGuardianRuleParams{Version: version, Confirm: new(true)})
				},
				func() (*http.Response, error) {
					return c.DeleteGuardianRule(cmd.Context(), c.project, args[0], &client.DeleteGuardianRuleParams{Version: version, Confirm: new(true)})
				}))
			if err != nil {
				return explain("deleting the rule", err)
			}
			if output.json() {
				return writeValue(t.out, map[string]any{"deleted": args[0], "version": version})
			}
			t.say("deleted the rule %s", args[0])
			return nil
		},
	}
	output.register(cmd.Flags())
	layer.register(cmd.Flags())
	cmd.Flags().BoolVar(&sure, "yes", false, sureRuleUsage)
	return cmd
}
