package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

func newAgentPardon(t *terminal, server *serverFlags) *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use: "pardon AGENT --reason WHY", Short: "Take back what the project holds against an agent; takes an owner's key",
		Long: `Take back what the project holds against an agent that was caught, for a fault of its machine that was fixed,
say, or for a function that was not deterministic. It is lent work again, on probation. What was taken back
from it stays so. The reason goes into the audit log.`,
		Args: arguments(1), ValidArgsFunction: server.complete(agentIDs), DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if reason == "" {
				return usageError("say why with --reason: it is kept in the audit log")
			}
			id, err := parseID("agent", args[0])
			if err != nil {
				return err
			}
			c, err := server.connectProject()
			if err != nil {
				return err
			}
			doc, err := answer.Read[client.ProjectAgent](c.PardonAgent(cmd.Context(), c.project, id, nil, client.Pardon{Reason: reason}))
			if err != nil {
				return explain("pardoning the agent", err)
			}
			t.say("%s", pardonText(doc.Value))
			return nil
		},
	}
	cmd.Flags().StringVar(&reason, "reason", "", "why: the audit log keeps it")
	return cmd
}

// pardonText says what a pardon has changed: nothing for now where the agent is not of the project.
func pardonText(a client.ProjectAgent) string {
	text := fmt.Sprintf("pardoned the agent %s (%s): ", plain(a.Name), a.ID)
	if a.Excluded {
		return text + fmt.Sprintf("it was removed from the project, and gets leases again, on probation, after ostraka agent approve %s", a.ID)
	}
	return text + "it gets leases again, on probation"
}
