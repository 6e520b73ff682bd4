//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/functions"
	"github.com/ostraka/ostraka/functions/store"
	"github.com/ostraka/ostraka/migrations"
)

// operatorKeyOptions are the flags of `ostraka operator-key create`.
type operatorKeyOptions struct {
	outputFlag
	terminal    *terminal
	databaseURL string
	name        string
}

func newOperatorKey(t *terminal) *cobra.Command {
	return noun("operator-key", "Keys for those who run the installation", newOperatorKeyCreate(t))
}

func newOperatorKeyCreate(t *terminal) *cobra.Command {
	o := &operatorKeyOptions{terminal: t}
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "Make an operator's key, in the database itself",
		Long: `Make an operator's key and print it, once. No API call can do this: it takes access to the database.
With the key, "ostraka project create" makes the first project.`,
		Args: arguments(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.name = args[0]
			return o.run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&o.databaseURL, "database-url", "", "the server's Postgres (or OSTRAKA_DATABASE_URL)")
	o.register(cmd.Flags())
	return cmd
}

func (o *operatorKeyOptions) run(ctx context.Context) error {
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
	service := functions.New(functions.Options{Store: s, Log: slog.New(slog.DiscardHandler)})
	secret, err := service.CreateOperatorKey(ctx, o.name)
	if err != nil {
		return fmt.Errorf("making an operator's key: %w", err)
	}
	return printSecret(o.terminal, &o.outputFlag, "key", secret, map[string]string{"name": o.name, "role": "operator", "secret": secret})
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
