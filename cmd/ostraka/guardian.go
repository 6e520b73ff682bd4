package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

func newGuardian(t *terminal, server *serverFlags) *cobra.Command {
	return noun("guardian", "What decides before anything happens",
		newGuardianStatus(t, server), newGuardianSet(t, server), newGuardianRule(t, server), newGuardianOverride(t, server))
}

// layerFlag says whose rules a command is about: a project's, or, for an operator, those of the whole installation.
type layerFlag struct {
	server   *serverFlags
	operator bool
}

func (l *layerFlag) register(flags *pflag.FlagSet) {
	flags.BoolVar(&l.operator, "operator", false, "for the whole installation; takes an operator's key")
}

func (l *layerFlag) connect() (*connection, error) {
	if l.operator {
		return l.server.connect()
	}
	return l.server.connectProject()
}

// pick calls what is for the installation, or for a project.
func (l *layerFlag) pick(installation, project func() (*http.Response, error)) (*http.Response, error) {
	if l.operator {
		return installation()
	}
	return project()
}

func newGuardianStatus(t *terminal, server *serverFlags) *cobra.Command {
	var output outputFlag
	layer := &layerFlag{server: server}
	cmd := &cobra.Command{
		Use: "status", Short: "Say how the guardian stands", Args: arguments(0),
		Long: `Show which rules decide, by layer, which exceptions are in force, how many approvals wait, and what was decided in the
last 24 hours.`,
		Example: "  ostraka guardian status",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := output.check(); err != nil {
				return err
			}
			c, err := layer.connect()
			if err != nil {
				return err
			}
			doc, err := answer.Read[client.GuardianStatus](layer.pick(
				func() (*http.Response, error) { return c.GetServerGuardian(cmd.Context()) },
				func() (*http.Response, error) { return c.GetGuardian(cmd.Context(), c.project) }))
			if err != nil {
				return explain("asking the guardian", err)
			}
			return printOne(t, &output, doc.Raw, guardianLines(doc.Value))
		},
	}
	output.register(cmd.Flags())
	layer.register(cmd.Flags())
	return cmd
}

func guardianLines(s client.GuardianStatus) [][2]string {
	lines := [][2]string{{"four eyes", yes(s.FourEyes)}, {"approvals", strconv.FormatInt(s.ApprovalsWaiting, 10) + " waiting"}}
	for _, r := range s.Rules {
		on := "all operations"
		if len(r.On) > 0 {
			on = strings.Join(r.On, ", ")
		}
		if len(r.On) > 3 {
			on = strconv.Itoa(len(r.On)) + " operations"
		}
		lines = append(lines, [2]string{"rule", fmt.Sprintf("%s/%s@%d: %s %s", r.Layer, r.Name, r.Version, r.Then, on)})
	}
	for _, o := range s.Overrides {
		lines = append(lines, [2]string{"exception", fmt.Sprintf("%s: from %s until %s: %s", o.ID, o.Rule, shortTime(o.Until), o.Reason)})
	}
	for _, d := range s.Decisions {
		lines = append(lines, [2]string{"decisions", fmt.Sprintf("%d %s %s", d.Count, d.Decision, d.Operation)})
	}
	return lines
}

func newGuardianSet(t *terminal, server *serverFlags) *cobra.Command {
	var output outputFlag
	var fourEyes string
	layer := &layerFlag{server: server}
	cmd := &cobra.Command{
		Use: "set --four-eyes on|off", Short: "Say whether who asks for an approval may give it", Args: arguments(0),
		Example: "  ostraka guardian set --four-eyes on",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := output.check(); err != nil {
				return err
			}
			if fourEyes != "on" && fourEyes != "off" {
				return usageError("say on or off with --four-eyes")
			}
			c, err := layer.connect()
			if err != nil {
				return err
			}
			want := client.GuardianSettings{FourEyes: fourEyes == "on"}
			doc, err := answer.Read[client.GuardianStatus](layer.pick(
				func() (*http.Response, error) { return c.ChangeServerGuardian(cmd.Context(), want) },
				func() (*http.Response, error) { return c.ChangeGuardian(cmd.Context(), c.project, want) }))
			if err != nil {
				return explain("changing the guardian's settings", err)
			}
			if output.json() {
				return writeJSON(t.out, doc.Raw)
			}
			t.say("four eyes: %s", fourEyes)
			return nil
		},
	}
	output.register(cmd.Flags())
	cmd.Flags().StringVar(&fourEyes, "four-eyes", "", "on: who asks for an approval may not give it; or off")
	layer.register(cmd.Flags())
	return cmd
}

func newGuardianRule(t *terminal, server *serverFlags) *cobra.Command {
	return noun("rule", "Rules of the guardian",
		newGuardianRuleList(t, server), newGuardianRuleShow(t, server), newGuardianRuleSet(t, server, "create"), newGuardianRuleSet(t, server, "update"),
		newGuardianRuleDelete(t, server), newGuardianRuleTest(t, server))
}

func newGuardianRuleList(t *terminal, server *serverFlags) *cobra.Command {
	l := &listFlags{}
	layer := &layerFlag{server: server}
	cmd := &cobra.Command{
		Use: "list", Short: "List the rules that decide, by layer", Args: arguments(0), Example: "  ostraka guardian rule list",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := l.check(); err != nil {
				return err
			}
			c, err := layer.connect()
			if err != nil {
				return err
			}
			return show(t, l, "listing rules", []string{"LAYER", "RULE", "VERSION", "ENABLED", "THEN", "REASON"},
				func(r client.GuardianRule) []string {
					return []string{r.Layer, r.Name, strconv.FormatInt(r.Version, 10), yes(r.Enabled), r.Then, r.Reason}
				},
				func(*string, *int64) (*http.Response, error) {
					return layer.pick(
						func() (*http.Response, error) { return c.ListServerGuardianRules(cmd.Context()) },
						func() (*http.Response, error) { return c.ListGuardianRules(cmd.Context(), c.project) })
				})
		},
	}
	l.register(cmd.Flags())
	layer.register(cmd.Flags())
	return cmd
}

// readGuardianRule reads the newest version of a rule.
func readGuardianRule(ctx context.Context, c *connection, layer *layerFlag, name string) (answer.Document[client.GuardianRuleList], error) {
	return answer.Read[client.GuardianRuleList](layer.pick(
		func() (*http.Response, error) { return c.GetServerGuardianRule(ctx, name) },
		func() (*http.Response, error) { return c.GetGuardianRule(ctx, c.project, name) }))
}

func newGuardianRuleShow(t *terminal, server *serverFlags) *cobra.Command {
	var output outputFlag
	layer := &layerFlag{server: server}
	cmd := &cobra.Command{
		Use: "show RULE", Short: "Show a rule and how many versions it has had", Args: arguments(1), Example: "  ostraka guardian rule show no-large-jobs",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := output.check(); err != nil {
				return err
			}
			c, err := layer.connect()
			if err != nil {
				return err
			}
			doc, err := readGuardianRule(cmd.Context(), c, layer, args[0])
			if err != nil {
				return explain("getting the rule", err)
			}
			r := doc.Value.Items[0]
			return printOne(t, &output, doc.Raw, [][2]string{
				{"rule", r.Name},
				{"layer", r.Layer},
				{"version", strconv.FormatInt(r.Version, 10)},
				{"deleted", yes(r.Deleted)},
				{"enabled", yes(r.Enabled)},
				{"on", firstOf(strings.Join(r.On, " "), "all operations")},
				{"when", firstOf(r.When, "always")},
				{"then", r.Then},
				{"reason", r.Reason},
				{"by", r.CreatedBy},
				{"made", shortTime(r.CreatedAt)},
			})
		},
	}
	output.register(cmd.Flags())
	layer.register(cmd.Flags())
	return cmd
}

// guardianRuleFile reads a rule from a file, and gives it a field more.
func guardianRuleFile(t *terminal, file, field string, value any) (name string, body []byte, err error) {
	text, err := readRule(t, file)
	if err != nil {
		return "", nil, err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return "", nil, usageError("%s is not a rule: it must be one JSON object", file)
	}
	if err := json.Unmarshal(fields["name"], &name); err != nil || name == "" {
		return "", nil, usageError("%s is not a rule: it has no name", file)
	}
	delete(fields, "name")
	if _, given := fields["enabled"]; !given {
		fields["enabled"] = json.RawMessage("true")
	}
	if fields[field], err = json.Marshal(value); err != nil {
		return "", nil, err
	}
	if field == "name" {
		fields["name"], _ = json.Marshal(name)
	}
	body, err = json.Marshal(fields)
	return name, body, err
}

func newGuardianRuleTest(t *terminal, server *serverFlags) *cobra.Command {
	var output outputFlag
	var file string
	layer := &layerFlag{server: server}
	cmd := &cobra.Command{
		Use: "test -f FILE", Short: "Say what a rule would have decided differently", Args: arguments(0),
		Long:    "Decide the newest 1,000 decisions again, with the rule in the file besides the others or in place of the one of its name. Nothing is kept.",
		Example: "  ostraka guardian rule test -f no-large-jobs.json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := output.check(); err != nil {
				return err
			}
			_, body, err := guardianRuleFile(t, file, "name", "")
			if err != nil {
				return err
			}
			c, err := layer.connect()
			if err != nil {
				return err
			}
			doc, err := testGuardianRule(cmd.Context(), c, layer, body)
			if err != nil {
				return explain("testing the rule", err)
			}
			lines := [][2]string{{"decisions", strconv.FormatInt(doc.Value.Decisions, 10)}, {"different", strconv.Itoa(len(doc.Value.Differences))}}
			for _, d := range doc.Value.Differences {
				lines = append(lines, [2]string{string(d.Before) + " → " + string(d.After), fmt.Sprintf("%s of %s, %s", d.Operation, d.Subject, shortTime(d.At))})
			}
			return printOne(t, &output, doc.Raw, lines)
		},
	}
	output.register(cmd.Flags())
	layer.register(cmd.Flags())
	cmd.Flags().StringVarP(&file, "file", "f", "", "the rule as JSON")
	return cmd
}
