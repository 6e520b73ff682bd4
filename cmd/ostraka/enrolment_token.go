package main

import (
	"net/http"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

func newEnrolmentToken(t *terminal, server *serverFlags) *cobra.Command {
	return noun("enrolment-token", "Tokens with which agents join the project",
		newEnrolmentTokenCreate(t, server), newEnrolmentTokenList(t, server), newEnrolmentTokenRevoke(t, server))
}

func newEnrolmentTokenCreate(t *terminal, server *serverFlags) *cobra.Command {
	var output outputFlag
	var expiry expiryFlag
	cmd := &cobra.Command{
		Use: "create NAME", Short: "Create a token and print it, once", Args: arguments(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := output.check(); err != nil {
				return err
			}
			expires, err := expiry.at()
			if err != nil {
				return err
			}
			c, err := server.connectProject()
			if err != nil {
				return err
			}
			doc, err := answer.Read[client.CreatedEnrolmentToken](c.CreateEnrolmentToken(cmd.Context(), c.project,
				&client.CreateEnrolmentTokenParams{IdempotencyKey: new(uuid.NewString())}, client.NewEnrolmentToken{Name: args[0], ExpiresAt: expires}))
			if err != nil {
				return explain("creating the token", err)
			}
			if output.json() {
				return writeJSON(t.out, doc.Raw)
			}
			return printSecret(t, &output, "token", doc.Value.Secret, nil)
		},
	}
	output.register(cmd.Flags())
	expiry.register(cmd.Flags())
	return cmd
}

func newEnrolmentTokenList(t *terminal, server *serverFlags) *cobra.Command {
	l := &listFlags{}
	cmd := &cobra.Command{
		Use: "list", Short: "List the project's enrolment tokens", Args: arguments(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := l.check(); err != nil {
				return err
			}
			c, err := server.connectProject()
			if err != nil {
				return err
			}
			return show(t, l, "listing enrolment tokens", []string{"TOKEN", "NAME", "CREATED", "EXPIRES", "REVOKED"},
				func(k client.EnrolmentToken) []string {
					return []string{k.ID.String(), k.Name, shortTime(k.CreatedAt), shortTimePtr(k.ExpiresAt), shortTimePtr(k.RevokedAt)}
				},
				func(cursor *string, size *int64) (*http.Response, error) {
					return c.ListEnrolmentTokens(cmd.Context(), c.project, &client.ListEnrolmentTokensParams{Cursor: cursor, Limit: size})
				})
		},
	}
	l.register(cmd.Flags())
	return cmd
}

func newEnrolmentTokenRevoke(t *terminal, server *serverFlags) *cobra.Command {
	return &cobra.Command{
		Use: "revoke TOKEN", Short: "Revoke a token; agents that joined with it stay", Args: arguments(1), ValidArgsFunction: server.complete(tokenIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := parseID("enrolment token", args[0])
			if err != nil {
				return err
			}
			c, err := server.connectProject()
			if err != nil {
				return err
			}
			if _, err := answer.Read[struct{}](c.RevokeEnrolmentToken(cmd.Context(), c.project, id)); err != nil {
				return explain("revoking the token", err)
			}
			t.say("revoked the token %s", id)
			return nil
		},
	}
}
