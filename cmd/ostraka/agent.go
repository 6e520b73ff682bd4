package main

import (
	"context"
	"net/http"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

func newAgent(t *terminal, server *serverFlags) *cobra.Command {
	return noun("agent", "Machines that work for a server", newAgentStart(t, server), newAgentDoctor(t), newAgentTrust(t), newAgentPrefs(t), newAgentStatus(t), newAgentPause(t), newAgentResume(t), newAgentInstall(t, server), newAgentUninstall(t), newAgentList(t, server), newAgentKill(t, server), newAgentRevive(t, server), newAgentRevoke(t, server))
}

// agentListOptions are the flags of `ostraka agent list`.
type agentListOptions struct {
	listFlags
	terminal *terminal
	server   *serverFlags
	all      bool
}

func newAgentList(t *terminal, server *serverFlags) *cobra.Command {
	o := &agentListOptions{terminal: t, server: server}
	cmd := &cobra.Command{
		Use: "list", Short: "List the project's agents, with the evidence about each",
		Long: `List the project's agents, with the evidence about each. With --all and an operator's key: all agents
of the installation, without the evidence, which is the projects'.`,
		Args: arguments(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(); err != nil {
				return err
			}
			if o.all {
				return o.listAll(cmd.Context())
			}
			return o.listOfProject(cmd.Context())
		},
	}
	o.register(cmd.Flags())
	cmd.Flags().BoolVar(&o.all, "all", false, "all agents of the installation; takes an operator's key")
	return cmd
}

func (o *agentListOptions) listOfProject(ctx context.Context) error {
	c, err := o.server.connectProject()
	if err != nil {
		return err
	}
	return show(o.terminal, &o.listFlags, "listing agents", []string{"AGENT", "NAME", "STATE", "AGREED", "CONTRADICTED", "CAUGHT", "LAST SEEN"},
		func(a client.ProjectAgent) []string {
			return []string{
				a.ID.String(), a.Name, string(a.State), strconv.FormatInt(a.Passed, 10), strconv.FormatInt(a.Failed, 10),
				shortTimePtr(a.CaughtAt), shortTimePtr(a.LastSeenAt),
			}
		},
		func(cursor *string, size *int64) (*http.Response, error) {
			return c.ListProjectAgents(ctx, c.project, &client.ListProjectAgentsParams{Cursor: cursor, Limit: size})
		})
}

func (o *agentListOptions) listAll(ctx context.Context) error {
	c, err := o.server.connect()
	if err != nil {
		return err
	}
	return show(o.terminal, &o.listFlags, "listing all agents", []string{"AGENT", "NAME", "STATE", "ISOLATION", "JOINED", "LAST SEEN"},
		func(a client.Agent) []string {
			return []string{a.ID.String(), a.Name, string(a.State), a.Isolation, shortTime(a.CreatedAt), shortTimePtr(a.LastSeenAt)}
		},
		func(cursor *string, size *int64) (*http.Response, error) {
			return c.ListAgents(ctx, &client.ListAgentsParams{Cursor: cursor, Limit: size})
		})
}

// projectAgents are all agents of the project.
func projectAgents(ctx context.Context, c *connection) ([]client.ProjectAgent, error) {
	agents, _, _, err := gather[client.ProjectAgent](0, func(cursor *string, size *int64) (*http.Response, error) {
		return c.ListProjectAgents(ctx, c.project, &client.ListProjectAgentsParams{Cursor: cursor, Limit: size})
	})
	return agents, err
}

func newAgentRevoke(t *terminal, server *serverFlags) *cobra.Command {
	return &cobra.Command{
		Use: "revoke AGENT", Short: "Revoke an agent everywhere; takes an operator's key", Args: arguments(1),
		ValidArgsFunction: server.complete(agentIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := parseID("agent", args[0])
			if err != nil {
				return err
			}
			c, err := server.connect()
			if err != nil {
				return err
			}
			doc, err := answer.Read[client.Agent](c.RevokeAgent(cmd.Context(), id, nil, client.AgentDecision{}))
			if err != nil {
				return explain("revoking the agent", err)
			}
			t.say("revoked the agent %s (%s)", plain(doc.Value.Name), id)
			return nil
		},
	}
}
