package main

import (
	"context"
	"net/http"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

func newKey(t *terminal, server *serverFlags) *cobra.Command {
	signing := newSigningKey(t, server)
	signing.Use = "signing" // the same as signing-key, for those who look for it among the keys
	return noun("key", "The project's API keys, and the keys that sign its functions", newKeyCreate(t, server), newKeyList(t, server), newKeyRotate(t, server), newKeyRevoke(t, server), signing)
}

// expiryFlag says when a key or a token stops working.
type expiryFlag struct{ in time.Duration }

func (e *expiryFlag) register(f *pflag.FlagSet, usual string) {
	f.DurationVar(&e.in, "expires-in", 0, "how long it works, for example 720h; left out: "+usual)
}

// seconds is how long it is to work; 0: it was not said.
func (e *expiryFlag) seconds() (int64, error) {
	switch {
	case e.in < 0:
		return 0, usageError("--expires-in is %v: it would have expired already", e.in)
	case e.in > 0 && e.in < time.Second:
		return 0, usageError("--expires-in is %v: choose a second or more", e.in)
	}
	return int64(e.in.Seconds()), nil
}

func newKeyCreate(t *terminal, server *serverFlags) *cobra.Command {
	k := &keyMaker{terminal: t, server: server}
	var role string
	cmd := &cobra.Command{
		Use: "create NAME", Short: "Create a key and print it, once", Args: arguments(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return k.run("creating the key", func(c *connection, seconds int64) (*http.Response, error) {
				return c.CreateKey(cmd.Context(), c.project, &client.CreateKeyParams{IdempotencyKey: new(uuid.NewString())},
					client.NewKey{Name: args[0], Role: client.NewKeyRole(role), ExpiresInSeconds: seconds})
			})
		},
	}
	k.register(cmd.Flags())
	cmd.Flags().StringVar(&role, "role", "submitter", "what it may do: owner, submitter, viewer, auditor or reviewer")
	return cmd
}

func newKeyList(t *terminal, server *serverFlags) *cobra.Command {
	return newList(server, "List the project's keys", func(ctx context.Context, c *connection, l *listFlags) error {
		return show(t, l, "listing keys", []string{"KEY", "NAME", "ROLE", "CREATED", "USED", "EXPIRES", "REVOKED"},
			func(k client.Key) []string {
				return []string{k.ID.String(), k.Name, string(k.Role), shortTime(k.CreatedAt), shortTimePtr(k.UsedAt), shortTimePtr(k.ExpiresAt), shortTimePtr(k.RevokedAt)}
			},
			func(cursor *string, size *int64) (*http.Response, error) {
				return c.ListKeys(ctx, c.project, &client.ListKeysParams{Cursor: cursor, Limit: size})
			})
	})
}

// revocation is a request about one thing of a project.
type revocation func(ctx context.Context, c *connection, id uuid.UUID) (*http.Response, error)

// newRevoke makes a command that takes from a project what lets somebody in. ask, where there is one, may refuse before.
func newRevoke(t *terminal, server *serverFlags, what string, ask func(ctx context.Context, c *connection, id uuid.UUID) error, revoke revocation) *cobra.Command {
	return &cobra.Command{
		Args: arguments(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, id, err := server.connectAbout(cmd.Context(), what, args[0])
			if err != nil {
				return err
			}
			if ask != nil {
				if err := ask(cmd.Context(), c, id); err != nil {
					return err
				}
			}
			if _, err := answer.Read[struct{}](revoke(cmd.Context(), c, id)); err != nil {
				return explain("revoking the "+what, err)
			}
			t.say("revoked the %s %s", what, id)
			return nil
		},
	}
}
