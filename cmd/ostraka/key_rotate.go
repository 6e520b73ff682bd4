package main

import (
	"net/http"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
)

func newKeyRotate(t *terminal, server *serverFlags) *cobra.Command {
	k := &keyMaker{terminal: t, server: server}
	var overlap time.Duration
	cmd := &cobra.Command{
		Use: "rotate KEY", Short: "Replace a key by a new one, and print that once", Args: arguments(1), ValidArgsFunction: server.complete(keyIDs),
		Long: `Replace a key by a new one of the same name and role, and print that once. The old key keeps working for --overlap,
so that its users can change it without an interruption; "ostraka key list" shows when each was used last.`,
		Example: "  ostraka key rotate KEY --overlap 168h",
		RunE: func(cmd *cobra.Command, args []string) error {
			if overlap < 0 {
				return usageError("--overlap is %v: it is a time from now on, or 0", overlap)
			}
			id, err := parseID("key", args[0])
			if err != nil {
				return err
			}
			return k.run("rotating the key", func(c *connection, seconds int64) (*http.Response, error) {
				return c.RotateKey(cmd.Context(), c.project, id, &client.RotateKeyParams{IdempotencyKey: new(uuid.NewString())},
					client.KeyRotation{OverlapSeconds: int64(overlap.Seconds()), ExpiresInSeconds: seconds})
			})
		},
	}
	k.register(cmd.Flags())
	cmd.Flags().DurationVar(&overlap, "overlap", 24*time.Hour, "for how long the old key keeps working, up to 744h; 0 ends it at once")
	return cmd
}
