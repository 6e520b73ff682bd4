package main

import (
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

func newKeyRotate(t *terminal, server *serverFlags) *cobra.Command {
	var output outputFlag
	var expiry expiryFlag
	var overlap time.Duration
	cmd := &cobra.Command{
		Use: "rotate KEY", Short: "Replace a key by a new one, and print that once", Args: arguments(1), ValidArgsFunction: server.complete(keyIDs),
		Long: `Replace a key by a new one of the same name and role, and print that once. The old key goes on working for --overlap,
so that whoever uses it can change it without an interruption; "ostraka key list" shows when each was used last.`,
		Example: "  ostraka key rotate KEY --overlap 168h",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := output.check(); err != nil {
				return err
			}
			if overlap < 0 {
				return usageError("--overlap is %v: it is a time from now on, or 0", overlap)
			}
			expires, err := expiry.at()
			if err != nil {
				return err
			}
			c, id, err := server.connectAbout("key", args[0])
			if err != nil {
				return err
			}
			doc, err := answer.Read[client.CreatedKey](c.RotateKey(cmd.Context(), c.project, id, &client.RotateKeyParams{IdempotencyKey: new(uuid.NewString())},
				client.KeyRotation{OverlapSeconds: int64(overlap.Seconds()), ExpiresAt: expires}))
			return showNewKey(t, &output, "rotating the key", doc, err)
		},
	}
	output.register(cmd.Flags())
	expiry.register(cmd.Flags(), "until it is revoked")
	cmd.Flags().DurationVar(&overlap, "overlap", 24*time.Hour, "for how long the old key goes on working, up to 744h; 0 ends it at once")
	return cmd
}

// showNewKey prints a key that was made, once.
func showNewKey(t *terminal, output *outputFlag, doing string, doc answer.Document[client.CreatedKey], err error) error {
	if err != nil {
		return explain(doing, err)
	}
	if output.json() {
		return writeJSON(t.out, doc.Raw)
	}
	return printSecret(t, output, "key", doc.Value.Secret, nil)
}
