package main

import (
	"context"
	"net/http"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
)

func newKeyRevoke(t *terminal, server *serverFlags) *cobra.Command {
	var yes bool
	ask := func(ctx context.Context, c *connection, id uuid.UUID) error {
		if yes {
			return nil
		}
		return askForLastOwner(ctx, t, c, id)
	}
	cmd := newRevoke(t, server, "key", ask, func(ctx context.Context, c *connection, id uuid.UUID) (*http.Response, error) {
		return c.RevokeKey(ctx, c.project, id)
	})
	cmd.Use, cmd.Short, cmd.ValidArgsFunction = "revoke KEY", "Revoke a key", server.complete(keyIDs)
	cmd.Long = `Revoke a key. Before it revokes the last key of an owner that works it asks: nobody could make keys in the project from then
on, until an operator makes one of an owner (ostraka project recover).`
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

// askForLastOwner asks before a key is revoked without which the project has no owner any more.
func askForLastOwner(ctx context.Context, t *terminal, c *connection, id uuid.UUID) error {
	keys, _, _, err := gather[client.Key](0, func(cursor *string, size *int64) (*http.Response, error) {
		return c.ListKeys(ctx, c.project, &client.ListKeysParams{Cursor: cursor, Limit: size})
	})
	if err != nil {
		return explain("looking for other owners' keys", err)
	}
	if !lastOwner(keys, id, time.Now()) {
		return nil
	}
	t.say("this is the last key of an owner that works: only an operator can make another one then (ostraka project recover)")
	t.say("to keep the project yours, make one first (ostraka key create NAME --role owner), or replace this one (ostraka key rotate %s)", id)
	return t.confirm(ctx, false, "revoking the last owner's key")
}

// lastOwner says whether a key is the only one of an owner that works.
func lastOwner(keys []client.Key, id uuid.UUID, now time.Time) bool {
	is := false
	for _, k := range keys {
		if string(k.Role) != "owner" || k.RevokedAt != nil || k.ExpiresAt != nil && !k.ExpiresAt.After(now) {
			continue
		}
		if k.ID != id {
			return false
		}
		is = true
	}
	return is
}
