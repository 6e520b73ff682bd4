package main

import (
	"github.com/spf13/cobra"
)

// agentKillFlags say how far an agent is killed.
type agentKillFlags struct {
	server    *serverFlags
	inProject bool
}

func (f *agentKillFlags) register(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.inProject, "in-project", false, "only what it does for the project; the project's owner may")
}

func (f *agentKillFlags) read(text string) (s scope, c *connection, err error) {
	id, err := parseID("agent", text)
	if err != nil {
		return s, nil, err
	}
	s = scope{kind: "everything", agent: &id}
	if f.inProject {
		s.kind = "project"
		c, err = f.server.connectProject()
	} else {
		c, err = f.server.connect()
	}
	return s, c, err
}

func newAgentKill(t *terminal, server *serverFlags) *cobra.Command {
	o, f := &killOptions{terminal: t}, &agentKillFlags{server: server}
	cmd := &cobra.Command{
		Use: "kill AGENT", Short: "End everything on an agent, until it is revived; takes an operator's key", Args: arguments(1),
		Long: `End all sandboxes of an agent at once. It returns its leases and gets no more until
ostraka agent revive. It stays enrolled and keeps its state: this is a killswitch for one agent, and
ostraka killswitch status shows it. With --force the server does not wait for the agent to return its
leases: it takes them back, and results that come later are refused.`,
		Example:           "  ostraka agent kill 01a20052-17b6-78a0-af4f-12089b0e5f52 --reason 'acts strangely' --wait",
		ValidArgsFunction: server.complete(agentIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(); err != nil {
				return err
			}
			s, c, err := f.read(args[0])
			if err != nil {
				return err
			}
			return o.kill(cmd.Context(), c, s)
		},
	}
	o.register(cmd.Flags())
	f.register(cmd)
	return cmd
}

func newAgentRevive(t *terminal, server *serverFlags) *cobra.Command {
	f := &agentKillFlags{server: server}
	cmd := &cobra.Command{
		Use: "revive AGENT", Short: "Let an agent work again that was killed; takes an operator's key", Args: arguments(1),
		Example:           "  ostraka agent revive 01a20052-17b6-78a0-af4f-12089b0e5f52 --reason 'looked at with its owner'",
		ValidArgsFunction: server.complete(agentIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, c, err := f.read(args[0])
			if err != nil {
				return err
			}
			return release(cmd.Context(), t, c, s)
		},
	}
	f.register(cmd)
	return cmd
}
