package main

import (
	"net/http"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
)

func newProjectRecover(t *terminal, server *serverFlags) *cobra.Command {
	k := &keyMaker{terminal: t, server: server}
	var reason string
	cmd := &cobra.Command{
		Use: "recover NAME", Short: "Make an owner's key for a project whose owner has lost theirs; takes an operator's key", Args: arguments(1),
		Long: `Make an owner's key named NAME for the project named by --project, and print it once. It takes an operator's key and a reason.
The project's audit log keeps who did it and why. Keys that were lost go on working: its owner revokes them with the new one.`,
		Example: `  ostraka project recover "Ada's new key" --project ID --reason "lost with her laptop; called back by telephone"`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if reason == "" {
				return usageError("--reason is missing: say why, the audit log keeps it")
			}
			return k.run("recovering the project", func(c *connection, seconds int64) (*http.Response, error) {
				return c.RecoverOwner(cmd.Context(), c.project, &client.RecoverOwnerParams{IdempotencyKey: new(uuid.NewString())},
					client.OwnerRecovery{Name: args[0], Reason: reason, ExpiresInSeconds: seconds})
			})
		},
	}
	k.register(cmd.Flags())
	cmd.Flags().StringVar(&reason, "reason", "", "why; the audit log keeps it")
	return cmd
}
