package main

import (
	"context"
	"net/http"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
)

func newAgent(t *terminal, server *serverFlags) *cobra.Command {
	verbs := []*cobra.Command{
		newAgentStart(t, server), newAgentDoctor(t), newAgentEULA(t, server), newAgentTrust(t), newAgentWitness(t),
		newAgentPrefs(t), newAgentVolume(t), newAgentStatus(t), newAgentHistory(t), newAgentOpen(t), newAgentPause(t), newAgentResume(t, server), newAgentInstall(t, server), newAgentUninstall(t),
		newAgentList(t, server), newAgentShow(t, server), newAgentMetrics(t, server), newAgentApprove(t, server), newAgentRemove(t, server), newAgentPardon(t, server),
		newAgentKill(t, server), newAgentRevive(t, server),
	}
	for _, d := range agentDecisions() {
		verbs = append(verbs, newAgentDecision(t, server, d))
	}
	return noun("agent", "Machines that work for a server", verbs...)
}

// agentListOptions are the flags of `ostraka agent list`.
type agentListOptions struct {
	listFlags
	terminal *terminal
	server   *serverFlags
	all      bool
	state    string
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
			if o.state != "" && !o.all {
				return usageError("--state goes with --all: a project lists all of its agents")
			}
			if o.all {
				return o.listAll(cmd.Context())
			}
			return o.listOfProject(cmd.Context())
		},
	}
	o.register(cmd.Flags())
	cmd.Flags().BoolVar(&o.all, "all", false, "all agents of the installation; takes an operator's key")
	cmd.Flags().StringVar(&o.state, "state", "", "with --all: only agents in this state: pending, active, draining, quarantined or revoked")
	return cmd
}

func (o *agentListOptions) listOfProject(ctx context.Context) error {
	c, err := o.server.connectProject()
	if err != nil {
		return err
	}
	return show(o.terminal, &o.listFlags, "listing agents", []string{"AGENT", "NAME", "STATE", "IDLE", "AGREED", "CONTRADICTED", "CAUGHT", "LAST SEEN"},
		func(a client.ProjectAgent) []string {
			return []string{
				a.ID.String(), a.Name, memberState(a), idleCode(a.Idle), strconv.FormatInt(a.Passed, 10), strconv.FormatInt(a.Failed, 10),
				shortTimePtr(a.CaughtAt), shortTimePtr(a.LastSeenAt),
			}
		},
		func(cursor *string, size *int64) (*http.Response, error) {
			return c.ListProjectAgents(ctx, c.project, &client.ListProjectAgentsParams{Cursor: cursor, Limit: size})
		})
}

// memberState is what the project may expect of an agent.
func memberState(a client.ProjectAgent) string {
	switch {
	case a.Excluded:
		return "removed"
	case a.CaughtAt != nil:
		return "caught"
	}
	return string(a.State)
}

func idleCode(i *client.Idle) string {
	if i == nil {
		return "-"
	}
	return i.Code
}

func (o *agentListOptions) listAll(ctx context.Context) error {
	c, err := o.server.connect()
	if err != nil {
		return err
	}
	return show(o.terminal, &o.listFlags, "listing all agents", []string{"AGENT", "NAME", "STATE", "IDLE", "ISOLATION", "JOINED", "LAST SEEN"},
		func(a client.Agent) []string {
			return []string{a.ID.String(), a.Name, string(a.State), idleCode(a.Idle), a.Isolation, shortTime(a.CreatedAt), shortTimePtr(a.LastSeenAt)}
		},
		func(cursor *string, size *int64) (*http.Response, error) {
			return c.ListAgents(ctx, o.allParams(cursor, size))
		})
}

func (o *agentListOptions) allParams(cursor *string, size *int64) *client.ListAgentsParams {
	p := &client.ListAgentsParams{Cursor: cursor, Limit: size}
	if o.state != "" {
		p.State = new(client.ListAgentsParamsState(o.state))
	}
	return p
}

// projectAgents are all agents of the project.
func projectAgents(ctx context.Context, c *connection) ([]client.ProjectAgent, error) {
	agents, _, _, err := gather[client.ProjectAgent](0, func(cursor *string, size *int64) (*http.Response, error) {
		return c.ListProjectAgents(ctx, c.project, &client.ListProjectAgentsParams{Cursor: cursor, Limit: size})
	})
	return agents, err
}
