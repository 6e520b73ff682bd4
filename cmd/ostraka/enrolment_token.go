package main

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/agent/trust"
	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
	"github.com/ostraka/ostraka/runtime/signing"
)

func newEnrolmentToken(t *terminal, server *serverFlags) *cobra.Command {
	return noun("enrolment-token", "Tokens with which agents join the project",
		newEnrolmentTokenCreate(t, server), newEnrolmentTokenList(t, server), newEnrolmentTokenRevoke(t, server))
}

func newEnrolmentTokenCreate(t *terminal, server *serverFlags) *cobra.Command {
	var output outputFlag
	var expiry expiryFlag
	var key signingFlag
	var owner string
	var uses int64
	cmd := &cobra.Command{
		Use: "create NAME", Short: "Create a token and print it, once", Args: arguments(1),
		Long: `Create a token with which agents join the project, and print it, once.

Where the project signs its functions, the token carries the fingerprint of its signing key, so that
the agents know from the project's owner, and not from the server, whose functions to execute. It is
that of the key on this machine, or, where there is none here, of the one that the server names.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := output.check(); err != nil {
				return err
			}
			if cmd.Flags().Changed("uses") && uses < 1 {
				return usageError("--uses is %d: uses count from 1; left out: 1000", uses)
			}
			seconds, err := expiry.seconds()
			if err != nil {
				return err
			}
			c, err := server.connectProject()
			if err != nil {
				return err
			}
			doc, err := answer.Read[client.CreatedEnrolmentToken](c.CreateEnrolmentToken(cmd.Context(), c.project,
				&client.CreateEnrolmentTokenParams{IdempotencyKey: new(uuid.NewString())}, client.NewEnrolmentToken{Name: args[0], Owner: owner, ExpiresInSeconds: seconds, MaxUses: uses}))
			if err != nil {
				return explain("creating the token", err)
			}
			if doc.Value.Secret, err = tokenWithKey(cmd.Context(), t, c, &key, doc.Value.Secret); err != nil {
				return err
			}
			return printSecret(t, &output, "token", doc.Value.Secret, doc.Value)
		},
	}
	output.register(cmd.Flags())
	expiry.register(cmd.Flags(), "90 days")
	cmd.Flags().Int64Var(&uses, "uses", 0, "how many agents may join with it; left out: 1000")
	key.register(cmd.Flags(), "signing-key")
	cmd.Flags().StringVar(&owner, "owner", "", "whose machines join with it; left out: all that do are taken for one owner's")
	return cmd
}

// tokenWithKey adds the project's key to a token, for agents that join with it.
func tokenWithKey(ctx context.Context, t *terminal, c *connection, flag *signingFlag, secret string) (string, error) {
	token := trust.Token{Secret: secret, Project: c.project}
	key, err := flag.key(t, c.project)
	if err != nil {
		return "", err
	}
	if key != nil {
		token.Fingerprint = signing.Fingerprint(signing.Public(key))
		return token.String(), nil
	}
	keys, _, err := signingKeysOf(ctx, c)
	if err != nil {
		return "", err
	}
	if len(keys) > 0 {
		token.Fingerprint = signing.Fingerprint(keys[len(keys)-1].PublicKey)
		t.say("the project's signing key is not on this machine: the token carries the one that the server names, %s", token.Fingerprint)
	}
	return token.String(), nil
}

func newEnrolmentTokenList(t *terminal, server *serverFlags) *cobra.Command {
	return newList(server, "List the project's enrolment tokens", func(ctx context.Context, c *connection, l *listFlags) error {
		return show(t, l, "listing enrolment tokens", []string{"TOKEN", "NAME", "CREATED", "EXPIRES", "USES", "REVOKED"},
			func(k client.EnrolmentToken) []string {
				return []string{k.ID.String(), k.Name, shortTime(k.CreatedAt), shortTimePtr(k.ExpiresAt), usesOf(k), shortTimePtr(k.RevokedAt)}
			},
			func(cursor *string, size *int64) (*http.Response, error) {
				return c.ListEnrolmentTokens(ctx, c.project, &client.ListEnrolmentTokensParams{Cursor: cursor, Limit: size})
			})
	})
}

func newEnrolmentTokenRevoke(t *terminal, server *serverFlags) *cobra.Command {
	cmd := newRevoke(t, server, "enrolment token", nil, func(ctx context.Context, c *connection, id uuid.UUID) (*http.Response, error) {
		return c.RevokeEnrolmentToken(ctx, c.project, id)
	})
	cmd.Use, cmd.Short, cmd.ValidArgsFunction = "revoke TOKEN", "Revoke a token; agents that joined with it stay", server.complete(tokenIDs)
	return cmd
}

func usesOf(k client.EnrolmentToken) string {
	if k.MaxUses == nil {
		return strconv.FormatInt(k.Uses, 10)
	}
	return fmt.Sprintf("%d of %d", k.Uses, *k.MaxUses)
}
