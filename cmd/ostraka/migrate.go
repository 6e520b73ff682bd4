//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/migrations"
)

// migrateOptions are the flags of `ostraka migrate`.
type migrateOptions struct {
	outputFlag
	terminal    *terminal
	databaseURL string
}

func newMigrate(t *terminal) *cobra.Command {
	o := &migrateOptions{terminal: t}
	up := &cobra.Command{
		Use: "up", Short: "Bring the database to what this program expects",
		Long: "Bring the database to what this program expects. Servers do it by themselves when they start; it is safe to run at any time.",
		Args: arguments(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return o.up(cmd.Context()) },
	}
	status := &cobra.Command{
		Use: "status", Short: "Show how far each schema is; exit code 1 when some is behind",
		Args: arguments(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return o.status(cmd.Context()) },
	}
	o.register(status.Flags())
	cmd := noun("migrate", "The database's schemas", up, status)
	cmd.PersistentFlags().StringVar(&o.databaseURL, "database-url", "", "the Postgres (or OSTRAKA_DATABASE_URL)")
	return cmd
}

func (o *migrateOptions) up(ctx context.Context) error {
	s, err := openDatabase(ctx, o.terminal, o.databaseURL)
	if err != nil {
		return err
	}
	defer s.Close()
	log, err := newLog(o.terminal, "info")
	if err != nil {
		return err
	}
	if err := migrations.Up(ctx, s.Pool, log); err != nil {
		return fmt.Errorf("migrating: %w", err)
	}
	o.terminal.say("the database is up to date")
	return nil
}

func (o *migrateOptions) status(ctx context.Context) error {
	if err := o.check(); err != nil {
		return err
	}
	s, err := openDatabase(ctx, o.terminal, o.databaseURL)
	if err != nil {
		return err
	}
	defer s.Close()
	schemas, err := migrations.Status(ctx, s.Pool)
	if err != nil {
		return fmt.Errorf("looking at the schemas: %w", err)
	}
	if err := o.print(schemas); err != nil {
		return err
	}
	if migrations.Pending(schemas) {
		return &exitError{code: exitFailed, err: errors.New("some schemas are behind"), hint: "run ostraka migrate up"}
	}
	return nil
}

func (o *migrateOptions) print(schemas []migrations.Schema) error {
	if o.json() {
		return writeValue(o.terminal.out, schemas)
	}
	table := newTable(o.terminal.out, "SCHEMA", "VERSION", "LATEST")
	for _, s := range schemas {
		table.row(s.Name, strconv.Itoa(s.Version), strconv.Itoa(s.Latest))
	}
	return table.flush()
}
