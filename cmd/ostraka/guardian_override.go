package main

import (
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

func newGuardianOverride(t *terminal, server *serverFlags) *cobra.Command {
	return noun("override", "Exceptions from rules, which end by themselves",
		newOverrideAdd(t, server), newOverrideList(t, server), newOverrideRemove(t, server))
}

func newOverrideAdd(t *terminal, server *serverFlags) *cobra.Command {
	var output outputFlag
	var want client.NewOverride
	var lasts time.Duration
	layer := &layerFlag{server: server}
	cmd := &cobra.Command{
		Use: "add --rule RULE --reason WHY --for 1h", Short: "Make an exception from a rule", Args: arguments(0),
		Example: "  ostraka guardian override add --rule no-large-jobs --reason 'the yearly run' --for 2h",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := output.check(); err != nil {
				return err
			}
			if want.Rule == "" || want.Reason == "" || lasts < time.Second {
				return usageError("give --rule, --reason and --for: an exception has a reason and an end")
			}
			want.Seconds = int64(lasts / time.Second)
			c, err := layer.connect()
			if err != nil {
				return err
			}
			key := uuid.NewString()
			doc, err := answer.Read[client.GuardianOverride](layer.pick(
				func() (*http.Response, error) {
					return c.AddServerOverride(cmd.Context(), &client.AddServerOverrideParams{IdempotencyKey: &key}, want)
				},
				func() (*http.Response, error) {
					return c.AddOverride(cmd.Context(), c.project, &client.AddOverrideParams{IdempotencyKey: &key}, want)
				}))
			if err != nil {
				return explain("making the exception", err)
			}
			o := doc.Value
			return printOne(t, &output, doc.Raw, [][2]string{{"exception", o.ID.String()}, {"rule", o.Rule}, {"until", shortTime(o.Until)}})
		},
	}
	f := cmd.Flags()
	output.register(f)
	layer.register(f)
	f.StringVar(&want.Rule, "rule", "", "the rule that is not to hold")
	f.StringSliceVar(&want.Operations, "operation", nil, "only for this operation; may be given again")
	f.StringVar(&want.Subject, "subject", "", "only for this subject")
	f.StringVar(&want.Reason, "reason", "", "why; the audit log keeps it")
	f.DurationVar(&lasts, "for", 0, "how long, at most 744h")
	return cmd
}

func newOverrideList(t *terminal, server *serverFlags) *cobra.Command {
	l := &listFlags{}
	layer := &layerFlag{server: server}
	cmd := &cobra.Command{
		Use: "list", Short: "List exceptions, those that have ended too", Args: arguments(0), Example: "  ostraka guardian override list",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := l.check(); err != nil {
				return err
			}
			c, err := layer.connect()
			if err != nil {
				return err
			}
			return show(t, l, "listing exceptions", []string{"EXCEPTION", "RULE", "IN FORCE", "UNTIL", "OPERATIONS", "REASON"},
				func(o client.GuardianOverride) []string {
					return []string{o.ID.String(), o.Rule, yes(o.InForce), shortTime(o.Until), firstOf(strings.Join(o.Operations, " "), "all"), o.Reason}
				},
				func(cursor *string, size *int64) (*http.Response, error) {
					return layer.pick(
						func() (*http.Response, error) {
							return c.ListServerOverrides(cmd.Context(), &client.ListServerOverridesParams{Cursor: cursor, Limit: size})
						},
						func() (*http.Response, error) {
							return c.ListOverrides(cmd.Context(), c.project, &client.ListOverridesParams{Cursor: cursor, Limit: size})
						})
				})
		},
	}
	l.register(cmd.Flags())
	layer.register(cmd.Flags())
	return cmd
}

func newOverrideRemove(t *terminal, server *serverFlags) *cobra.Command {
	var output outputFlag
	layer := &layerFlag{server: server}
	cmd := &cobra.Command{
		Use: "remove EXCEPTION", Short: "End an exception before its time", Args: arguments(1),
		Example: "  ostraka guardian override remove 01989c5e-6c1e-7d4e-8f0a-3b6f2f4a9c11",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := output.check(); err != nil {
				return err
			}
			id, err := parseID("override", args[0])
			if err != nil {
				return err
			}
			c, err := layer.connect()
			if err != nil {
				return err
			}
			_, err = answer.Read[struct{}](layer.pick(
				func() (*http.Response, error) { return c.EndServerOverride(cmd.Context(), id) },
				func() (*http.Response, error) { return c.EndOverride(cmd.Context(), c.project, id) }))
			if err != nil {
				return explain("ending the exception", err)
			}
			if output.json() {
				return writeValue(t.out, map[string]any{"ended": id})
			}
			t.say("ended the exception %s", id)
			return nil
		},
	}
	output.register(cmd.Flags())
	layer.register(cmd.Flags())
	return cmd
}
