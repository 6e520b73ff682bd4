//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/engine"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/migrations"
)

// operatorKeyOptions are the flags of the commands of `ostraka operator-key`.
type operatorKeyOptions struct {
	outputFlag
	expiry      expiryFlag
	terminal    *terminal
	databaseURL string
}

func newOperatorKey(t *terminal) *cobra.Command {
	o := &operatorKeyOptions{terminal: t}
	cmd := noun("operator-key", "Keys for those who run the installation", newOperatorKeyCreate(o), newOperatorKeyList(o), newOperatorKeyRevoke(o))
	cmd.PersistentFlags().StringVar(&o.databaseURL, "database-url", "", "the server's Postgres (or OSTRAKA_DATABASE_URL)")
	return cmd
}

func newOperatorKeyCreate(o *operatorKeyOptions) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "Make an operator's key, in the database itself",
		Long: `Make an operator's key and print it, once. No API call can do this: it takes access to the database.
With the key, "ostraka project create" makes the first project.`,
		Args: arguments(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.with(cmd.Context(), func(ctx context.Context, service *engine.Service) error { return o.create(ctx, service, args[0]) })
		},
	}
	o.register(cmd.Flags())
	o.expiry.register(cmd.Flags(), "until it is revoked")
	return cmd
}

func (o *operatorKeyOptions) create(ctx context.Context, service *engine.Service, name string) error {
	seconds, err := o.expiry.seconds()
	if err != nil {
		return err
	}
	var expires *functions.Expiry
	if seconds > 0 {
		expires = &functions.Expiry{Seconds: seconds}
	}
	k, secret, err := service.CreateOperatorKey(ctx, name, expires)
	if err != nil {
		return fmt.Errorf("making an operator's key: %w", err)
	}
	return printSecret(o.terminal, &o.outputFlag, "key", secret, map[string]string{"id": k.ID.String(), "name": k.Name, "role": "operator", "secret": secret})
}

func newOperatorKeyList(o *operatorKeyOptions) *cobra.Command {
	cmd := &cobra.Command{
		Use: "list", Short: "List the operators' keys, and when each was used last", Args: arguments(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return o.with(cmd.Context(), o.list) },
	}
	o.register(cmd.Flags())
	return cmd
}

func (o *operatorKeyOptions) list(ctx context.Context, service *engine.Service) error {
	var keys []functions.Key
	var raw []json.RawMessage
	for page := (functions.ListPage{Limit: pageSize}); ; page.After = keys[len(keys)-1].ID.String() {
		more, err := service.ListOperatorKeys(ctx, page)
		if err != nil {
			return fmt.Errorf("listing the operators' keys: %w", err)
		}
		for _, k := range more {
			text, err := json.Marshal(k)
			if err != nil {
				return fmt.Errorf("encoding a key: %w", err)
			}
			keys, raw = append(keys, k), append(raw, text)
		}
		if len(more) < page.Limit {
			break
		}
	}
	return printRows(o.terminal, &o.outputFlag, keys, raw, []string{"KEY", "NAME", "CREATED", "USED", "EXPIRES", "REVOKED"}, func(k functions.Key) []string {
		return []string{k.ID.String(), k.Name, shortTime(k.CreatedAt), shortTimePtr(k.UsedAt), shortTimePtr(k.ExpiresAt), shortTimePtr(k.RevokedAt)}
	})
}

func newOperatorKeyRevoke(o *operatorKeyOptions) *cobra.Command {
	return &cobra.Command{
		Use: "revoke KEY", Short: "Revoke an operator's key, and end the sessions that were opened with it", Args: arguments(1),
		Long: `Revoke an operator's key by its ID, which "ostraka operator-key list" shows. It is refused from the next request on, and the
sessions in browsers that were opened with it end. The last one may be revoked, too: "ostraka operator-key create" makes another.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := parseID("key", args[0])
			if err != nil {
				return err
			}
			return o.with(cmd.Context(), func(ctx context.Context, service *engine.Service) error { return o.revoke(ctx, service, id) })
		},
	}
}

func (o *operatorKeyOptions) revoke(ctx context.Context, service *engine.Service, id uuid.UUID) error {
	err := service.RevokeOperatorKey(ctx, id)
	if e, ok := errors.AsType[*functions.Error](err); ok && e.Kind == functions.KindNotFound {
		return &exitError{code: exitNotFound, err: fmt.Errorf("there is no operator's key %s", id), hint: "ostraka operator-key list shows them"}
	}
	if err != nil {
		return fmt.Errorf("revoking an operator's key: %w", err)
	}
	o.terminal.say("revoked the operator's key %s", id)
	return nil
}

// with connects to the database for what one of the commands does there.
func (o *operatorKeyOptions) with(ctx context.Context, do func(context.Context, *engine.Service) error) error {
	if err := o.check(); err != nil {
		return err
	}
	s, err := openDatabase(ctx, o.terminal, o.databaseURL)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := upToDate(ctx, s); err != nil {
		return err
	}
	return do(ctx, engine.New(engine.Options{Store: s, Log: slog.New(slog.DiscardHandler)}))
}

// upToDate refuses a database that this program cannot work on yet.
func upToDate(ctx context.Context, s *store.Store) error {
	schemas, err := migrations.Status(ctx, s.Pool)
	if err != nil {
		return fmt.Errorf("looking at the schemas: %w", err)
	}
	if migrations.Pending(schemas) {
		return &exitError{code: exitFailed, err: errors.New("the database is not what this program expects: some schemas are behind"), hint: "run ostraka migrate up"}
	}
	return nil
}

// openDatabase connects to the database for commands that work on it directly.
func openDatabase(ctx context.Context, t *terminal, url string) (*store.Store, error) {
	if url = firstOf(url, t.env("OSTRAKA_DATABASE_URL")); url == "" {
		return nil, usageError("which database? set OSTRAKA_DATABASE_URL or give --database-url")
	}
	s, err := store.Connect(ctx, url)
	if err != nil {
		return nil, err
	}
	if err := s.Pool.Ping(ctx); err != nil {
		s.Close()
		return nil, &exitError{code: exitUnreachable, err: fmt.Errorf("connecting to the database: %w", err), hint: "check the URL, and that the database runs"}
	}
	return s, nil
}
