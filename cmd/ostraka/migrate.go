//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
		Use: "status", Short: "Show how far each schema is; exit code 1 when some is behind, or too new for this program",
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
		return tooNew(fmt.Errorf("migrating: %w", err))
	}
	schemas, err := migrations.Status(ctx, s.Pool)
	if err != nil {
		return fmt.Errorf("looking at the schemas: %w", err)
	}
	if slices.ContainsFunc(schemas, migrations.Schema.Newer) {
		o.terminal.say("%s", newerSchemas)
		return nil
	}
	o.terminal.say("the database is up to date")
	return nil
}

// newerSchemas is what people are told in the middle of an upgrade, or after a program was put back.
const newerSchemas = "a newer ostraka has migrated some schemas: this program may work on them as they are; upgrade it when the others run"

// tooNew says what to do where this program may not work on the database any more.
func tooNew(err error) error {
	var e *migrations.TooNewError
	if !errors.As(err, &e) {
		return err
	}
	return &exitError{code: exitFailed, err: err, hint: "start the newer program here too, or restore the backup from before the upgrade into a database of its own"}
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
	if err := migrations.Fits(ctx, s.Pool); err != nil {
		return tooNew(err)
	}
	if slices.ContainsFunc(schemas, migrations.Schema.Newer) {
		o.terminal.say("%s", newerSchemas)
	}
	return nil
}

func (o *migrateOptions) print(schemas []migrations.Schema) error {
	if o.json() {
		return writeValue(o.terminal.out, schemas)
	}
	table := newTable(o.terminal.out, "SCHEMA", "VERSION", "LATEST", "STATE")
	for _, s := range schemas {
		table.row(s.Name, strconv.Itoa(s.Version), strconv.Itoa(s.Latest), schemaState(s))
	}
	return table.flush()
}

func schemaState(s migrations.Schema) string {
	switch {
	case s.Version < s.Latest:
		return "behind"
	case s.Needs > s.Latest:
		return "too new for this program"
	case s.Newer():
		return "newer"
	}
	return "current"
}
