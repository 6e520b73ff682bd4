package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

func newApproval(t *terminal, server *serverFlags) *cobra.Command {
	return noun("approval", "What rules of the guardian ask a person about",
		newApprovalList(t, server), newApprovalShow(t, server), newApprovalDecide(t, server, true), newApprovalDecide(t, server, false))
}

func newApprovalList(t *terminal, server *serverFlags) *cobra.Command {
	l := &listFlags{}
	var state string
	layer := &layerFlag{server: server}
	cmd := &cobra.Command{
		Use: "list", Short: "List what was asked", Args: arguments(0), Example: "  ostraka approval list --state waiting",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := l.check(); err != nil {
				return err
			}
			if !slices.Contains([]string{"", "waiting", "approved", "denied", "used", "expired"}, state) {
				return usageError("there is no state %q: choose waiting, approved, denied, used or expired", state)
			}
			c, err := layer.connect()
			if err != nil {
				return err
			}
			return show(t, l, "listing approvals", []string{"APPROVAL", "STATE", "OPERATION", "SUBJECT", "RISK", "RULE", "BY", "EXPIRES"},
				func(a client.GuardianApproval) []string {
					return []string{a.ID.String(), string(a.State), a.Operation, firstOf(a.Subject, "-"), string(a.Risk), a.Rule, a.RequestedBy, shortTime(a.ExpiresAt)}
				},
				func(cursor *string, size *int64) (*http.Response, error) {
					return layer.pick(
						func() (*http.Response, error) {
							p := client.ListServerApprovalsParams{Cursor: cursor, Limit: size}
							if state != "" {
								p.State = new(client.ListServerApprovalsParamsState(state))
							}
							return c.ListServerApprovals(cmd.Context(), &p)
						},
						func() (*http.Response, error) {
							p := client.ListApprovalsParams{Cursor: cursor, Limit: size}
							if state != "" {
								p.State = new(client.ListApprovalsParamsState(state))
							}
							return c.ListApprovals(cmd.Context(), c.project, &p)
						})
				})
		},
	}
	l.register(cmd.Flags())
	layer.register(cmd.Flags())
	cmd.Flags().StringVar(&state, "state", "", "only these: waiting, approved, denied, used or expired")
	return cmd
}

func newApprovalShow(t *terminal, server *serverFlags) *cobra.Command {
	var output outputFlag
	layer := &layerFlag{server: server}
	cmd := &cobra.Command{
		Use: "show APPROVAL", Short: "Show what is asked, why, and who can answer", Args: arguments(1),
		Example: "  ostraka approval show 01989c5e-6c1e-7d4e-8f0a-3b6f2f4a9c11",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := output.check(); err != nil {
				return err
			}
			id, err := parseID("approval", args[0])
			if err != nil {
				return err
			}
			c, err := layer.connect()
			if err != nil {
				return err
			}
			doc, err := answer.Read[client.GuardianApproval](layer.pick(
				func() (*http.Response, error) { return c.GetServerApproval(cmd.Context(), id) },
				func() (*http.Response, error) { return c.GetApproval(cmd.Context(), c.project, id) }))
			if err != nil {
				return explain("getting the approval", err)
			}
			return showApproval(t, &output, doc)
		},
	}
	output.register(cmd.Flags())
	layer.register(cmd.Flags())
	return cmd
}

func showApproval(t *terminal, o *outputFlag, doc answer.Document[client.GuardianApproval]) error {
	a := doc.Value
	lines := [][2]string{
		{"approval", a.ID.String()},
		{"state", string(a.State)},
		{"operation", a.Operation},
		{"subject", a.Subject},
		{"risk", string(a.Risk)},
		{"rule", a.Rule + " (" + string(a.Layer) + ")"},
		{"reason", a.Reason},
		{"asked by", a.RequestedBy},
		{"who decides", a.WhoDecides},
		{"expires", shortTime(a.ExpiresAt)},
	}
	if a.Job != nil {
		lines = append(lines, [2]string{"job", a.Job.String()})
	}
	if a.Asked != nil {
		asked, err := json.Marshal(a.Asked)
		if err != nil {
			return fmt.Errorf("writing what was asked for: %w", err)
		}
		lines = append(lines, [2]string{"asks for", string(asked)})
	}
	if a.DecidedBy != "" {
		lines = append(lines, [2]string{"decided by", a.DecidedBy}, [2]string{"why", a.Why})
	}
	return printOne(t, o, doc.Raw, lines)
}

func newApprovalDecide(t *terminal, server *serverFlags, approve bool) *cobra.Command {
	verb, short := "deny", "Say no: a job that waits for it is cancelled"
	if approve {
		verb, short = "approve", "Say yes: a job that waits for it is lent, and anything else passes once"
	}
	var output outputFlag
	var reason string
	layer := &layerFlag{server: server}
	cmd := &cobra.Command{
		Use: verb + " APPROVAL --reason WHY", Short: short, Args: arguments(1),
		Example: "  ostraka approval " + verb + " 01989c5e-6c1e-7d4e-8f0a-3b6f2f4a9c11 --reason 'talked to Ann'",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := output.check(); err != nil {
				return err
			}
			id, err := parseID("approval", args[0])
			if err != nil {
				return err
			}
			if reason == "" {
				return usageError("say why with --reason: the audit log keeps it")
			}
			c, err := layer.connect()
			if err != nil {
				return err
			}
			key, want := uuid.NewString(), client.ApprovalDecision{Approve: approve, Reason: reason}
			doc, err := answer.Read[client.GuardianApproval](layer.pick(
				func() (*http.Response, error) {
					return c.DecideServerApproval(cmd.Context(), id, &client.DecideServerApprovalParams{IdempotencyKey: &key}, want)
				},
				func() (*http.Response, error) {
					return c.DecideApproval(cmd.Context(), c.project, id, &client.DecideApprovalParams{IdempotencyKey: &key}, want)
				}))
			if err != nil {
				return explain("deciding about the approval", err)
			}
			return showApproval(t, &output, doc)
		},
	}
	output.register(cmd.Flags())
	layer.register(cmd.Flags())
	cmd.Flags().StringVar(&reason, "reason", "", "why")
	return cmd
}
