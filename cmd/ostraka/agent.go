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
	return noun("agent", "Machines that work for a server", newAgentStart(t, server), newAgentList(t, server), newAgentRevoke(t, server))
}

func newAgentList(t *terminal, server *serverFlags) *cobra.Command {
	l := &listFlags{}
	cmd := &cobra.Command{
		Use: "list", Short: "List the project's agents, with the evidence about each", Args: arguments(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := l.check(); err != nil {
				return err
			}
			c, err := server.connectProject()
			if err != nil {
				return err
			}
			return show(t, l, "listing agents", []string{"AGENT", "NAME", "STATE", "AGREED", "CONTRADICTED", "CAUGHT", "LAST SEEN"},
				func(a client.ProjectAgent) []string {
					return []string{
						a.ID.String(), a.Name, string(a.State), strconv.FormatInt(a.Passed, 10), strconv.FormatInt(a.Failed, 10),
						shortTimePtr(a.CaughtAt), shortTimePtr(a.LastSeenAt),
					}
				},
				func(cursor *string, size *int64) (*http.Response, error) {
					return c.ListProjectAgents(cmd.Context(), c.project, &client.ListProjectAgentsParams{Cursor: cursor, Limit: size})
				})
		},
	}
	l.register(cmd.Flags())
	return cmd
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
			doc, err := answer.Read[client.Agent](c.RevokeAgent(cmd.Context(), id, nil))
			if err != nil {
				return explain("revoking the agent", err)
			}
			t.say("revoked the agent %s (%s)", plain(doc.Value.Name), id)
			return nil
		},
	}
}
