package main

import (
	"context"
	"net/http"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

// decision is what can be decided about an agent with an operator's key.
type decision struct {
	verb, done, short, long string
	call                    func(c *connection, ctx context.Context, id uuid.UUID, why client.AgentDecision) (*http.Response, error)
}

func agentDecisions() []decision {
	return []decision{
		{
			"drain", "draining", "Let an agent finish its leases, and give it no more; takes an operator's key", "",
			func(c *connection, ctx context.Context, id uuid.UUID, why client.AgentDecision) (*http.Response, error) {
				return c.DrainAgent(ctx, id, nil, why)
			},
		},
		{
			"quarantine", "quarantined", "End an agent's leases and give it none until it is resumed; takes an operator's key",
			`End an agent's leases and give it none until it is resumed. What it has posted before is weighed like
everybody's; what it posts from now on is refused.`,
			func(c *connection, ctx context.Context, id uuid.UUID, why client.AgentDecision) (*http.Response, error) {
				return c.QuarantineAgent(ctx, id, nil, why)
			},
		},
		{
			"revoke", "revoked", "Revoke an agent everywhere and permanently; takes an operator's key",
			`Revoke an agent everywhere: its keys are refused at once, in polls that are open too, and its leases end.
This is final. The machine may enrol again with a new key, as another agent.`,
			func(c *connection, ctx context.Context, id uuid.UUID, why client.AgentDecision) (*http.Response, error) {
				return c.RevokeAgent(ctx, id, nil, why)
			},
		},
	}
}

func resumeDecision() decision {
	return decision{verb: "resume", done: "resumed", call: func(c *connection, ctx context.Context, id uuid.UUID, why client.AgentDecision) (*http.Response, error) {
		return c.ResumeAgent(ctx, id, nil, why)
	}}
}

// reasonFlag is why something is decided about an agent.
type reasonFlag struct{ text string }

func (r *reasonFlag) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&r.text, "reason", "", "why: the agent's owner and the audit log see it")
}

func newAgentDecision(t *terminal, server *serverFlags, d decision) *cobra.Command {
	var reason reasonFlag
	cmd := &cobra.Command{
		Use: d.verb + " AGENT", Short: d.short, Long: d.long, Args: arguments(1), ValidArgsFunction: server.complete(agentIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := parseID("agent", args[0])
			if err != nil {
				return err
			}
			c, err := server.connect()
			if err != nil {
				return err
			}
			doc, err := answer.Read[client.Agent](d.call(c, cmd.Context(), id, client.AgentDecision{Reason: reason.text}))
			if err != nil {
				return explain("deciding about the agent", err)
			}
			t.say("%s the agent %s (%s)", d.done, plain(doc.Value.Name), id)
			return nil
		},
	}
	reason.register(cmd)
	return cmd
}

func newAgentApprove(t *terminal, server *serverFlags) *cobra.Command {
	var reason reasonFlag
	var owner string
	var all bool
	cmd := &cobra.Command{
		Use: "approve AGENT", Short: "Let an agent work for the project, or, with --all, for the installation",
		Long: `Let an agent work for the project: one that waits for approval, or one that was removed before. It takes a
key of the project's owner, or an operator's.

With --all and an operator's key: approve an agent that waits, for projects that are open to all agents
and for those that admit it.

--owner says whose machine it is. Ostraka relies on it, and never on what an agent says of itself, where
it keeps copies of a shard apart.`,
		Example: "  ostraka agent approve 01a20052-17b6-78a0-af4f-12089b0e5f52 --owner ann",
		Args:    arguments(1), ValidArgsFunction: server.complete(agentIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := parseID("agent", args[0])
			if err != nil {
				return err
			}
			if all {
				return approveForAll(cmd.Context(), t, server, id, owner, reason.text)
			}
			c, err := server.connectProject()
			if err != nil {
				return err
			}
			doc, err := answer.Read[client.ProjectAgent](c.AdmitAgent(cmd.Context(), c.project, id, client.Admission{Owner: owner, Reason: reason.text}))
			if err != nil {
				return explain("approving the agent", err)
			}
			t.say("the agent %s (%s) may work for the project", plain(doc.Value.Name), id)
			return nil
		},
	}
	reason.register(cmd)
	cmd.Flags().StringVar(&owner, "owner", "", "whose machine it is")
	cmd.Flags().BoolVar(&all, "all", false, "for the installation; takes an operator's key")
	return cmd
}

func approveForAll(ctx context.Context, t *terminal, server *serverFlags, id uuid.UUID, owner, reason string) error {
	c, err := server.connect()
	if err != nil {
		return err
	}
	if owner != "" {
		if _, err := answer.Read[client.Agent](c.AssignAgentOwner(ctx, id, client.AgentOwner{Owner: owner})); err != nil {
			return explain("saying whose agent it is", err)
		}
	}
	doc, err := answer.Read[client.Agent](c.ApproveAgent(ctx, id, nil, client.AgentDecision{Reason: reason}))
	if err != nil {
		return explain("approving the agent", err)
	}
	t.say("approved the agent %s (%s)", plain(doc.Value.Name), id)
	return nil
}

func newAgentRemove(t *terminal, server *serverFlags) *cobra.Command {
	var reason reasonFlag
	cmd := &cobra.Command{
		Use: "remove AGENT", Short: "End an agent's work for the project",
		Long: `End an agent's work for the project: its leases end, and the project's tokens do not bring it back;
"agent approve" does. What it has posted stays and counts as before. Other projects are not concerned.`,
		Args: arguments(1), ValidArgsFunction: server.complete(agentIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, id, err := server.connectAbout(cmd.Context(), "agent", args[0])
			if err != nil {
				return err
			}
			doc, err := answer.Read[client.ProjectAgent](c.ExcludeAgent(cmd.Context(), c.project, id, nil, client.AgentDecision{Reason: reason.text}))
			if err != nil {
				return explain("removing the agent", err)
			}
			t.say("the agent %s (%s) works for the project no more", plain(doc.Value.Name), id)
			return nil
		},
	}
	reason.register(cmd)
	return cmd
}
