//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ostraka/ostraka/backup"
)

// backupOptions are the flags of `ostraka backup`: its own and those of a server.
type backupOptions struct {
	outputFlag
	server serverOptions
}

func newBackup(t *terminal) *cobra.Command {
	o := &backupOptions{server: serverOptions{terminal: t}}
	cmd := &cobra.Command{
		Use: "backup DIR", Short: "Copy the database and the objects into a folder, while servers work on", Args: arguments(1),
		Long: `Copy the whole installation into a folder: the database as it is at one moment, and then every object that it
refers to. Servers work on meanwhile; none removes objects before the backup is finished. It takes the flags, the
environment and the file of settings that the server takes, and PostgreSQL's own pg_dump, as new as the server.

A folder is a backup once it has a manifest.json, which is written last. A backup that was cut off goes on when the
command is run again: objects that are there are not copied again. The folder holds everything that the installation
knows, keys to sign logs and secrets of webhooks included: keep it as you keep the database.`,
		Example: `  ostraka backup --config /etc/ostraka/server.toml /backup/ostraka-$(date +%F)
  ostraka restore --check /backup/ostraka-2026-11-26`,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), cmd.Flags(), args[0]) },
	}
	o.register(cmd.Flags())
	o.server.register(cmd.Flags())
	return cmd
}

func (o *backupOptions) run(ctx context.Context, flags *pflag.FlagSet, dir string) error {
	if err := o.check(); err != nil {
		return err
	}
	if err := o.server.load(flags); err != nil {
		return err
	}
	t := o.server.terminal
	if err := o.server.config.Objects.there(); err != nil {
		return err
	}
	objects, err := o.server.config.Objects.open(ctx)
	if err != nil {
		return err
	}
	steps := &steps{t: t}
	taken, err := backup.Take(ctx, backup.Source{
		DatabaseURL: o.server.config.DatabaseURL, Objects: objects, Program: version, Elsewhere: elsewhere(o.server.settings, o.server.configPath),
	}, dir, steps.update)
	steps.finish()
	if err = errors.Join(err, objects.Close()); err != nil {
		return explainBackup("backing up", err, "run the same command again: it continues with the missing objects")
	}
	return o.print(dir, taken)
}

func (o *backupOptions) print(dir string, taken backup.Taken) error {
	t := o.server.terminal
	if o.json() {
		if err := writeValue(t.out, taken); err != nil {
			return err
		}
	} else if err := printFields(t, append(manifestFields(dir, taken.Manifest), [2]string{"digest", taken.Digest})); err != nil {
		return err
	}
	sayElsewhere(t, taken.Elsewhere)
	t.say("try it: %s restore --check %s", t.program, shellWord(dir))
	if taken.Objects.Missing == 0 {
		return nil
	}
	for _, m := range taken.Missing {
		t.say("missing: %s", m)
	}
	return &exitError{
		code: exitFailed, err: fmt.Errorf("the backup is whole, but the object store lacked %s that the database refers to", count(taken.Objects.Missing, "object")),
		hint: "look for them in an older backup",
	}
}

func manifestFields(dir string, m backup.Manifest) [][2]string {
	return [][2]string{
		{"backup", dir},
		{"taken at", m.TakenAt.Format(time.DateTime) + " UTC"},
		{"program", m.Program},
		{"database", fmt.Sprintf("PostgreSQL %s, %s, %s", m.Postgres, count(m.Tables, "table"), sizeOf(m.Database.Bytes))},
		{"projects", fmt.Sprint(len(m.Projects))},
		{"objects", fmt.Sprintf("%d, %s", m.Objects.Count, sizeOf(m.Objects.Bytes))},
	}
}

func sayElsewhere(t *terminal, all []backup.Elsewhere) {
	if len(all) == 0 {
		return
	}
	t.say("a server needs these too, and they are not in the backup:")
	for _, e := range all {
		t.say("  %s: %s", plain(e.What), plain(e.Where))
	}
}

// keptElsewhere are the settings that name what is in neither the database nor the object store.
var keptElsewhere = []struct{ key, what string }{
	{"audit.log_key_file", "the key that signs the audit logs' heads"},
	{"tls.cert", "the TLS certificate"},
	{"tls.key", "the key of the TLS certificate"},
	{"tls.acme_dir", "certificates from Let's Encrypt (made again without it)"},
	{"server.eula_file", "the agreement that owners of agents accept"},
	{"model.key_file", "the key of the external model"},
	{"oidc.client_secret", "the secret of the OIDC client"},
	{"oidc.client_secret_file", "the secret of the OIDC client"},
	{"objects.s3_access_key", "the name of the key of the S3 server"},
	{"objects.s3_secret_key", "the secret of the key of the S3 server"},
	{"server.database_url", "the URL of the database, with its password"},
}

// elsewhere names what a server with these settings needs besides a backup. It says where a secret was found, and never what it is.
func elsewhere(settings []setting, config string) []backup.Elsewhere {
	var all []backup.Elsewhere
	if config != "" {
		all = append(all, backup.Elsewhere{What: "the file of settings", Where: config})
	}
	for _, k := range keptElsewhere {
		for _, s := range settings {
			if s.Key != k.key || s.raw == "" {
				continue
			}
			where := s.Value
			if s.Value == shownSecret {
				where = s.Source
			}
			all = append(all, backup.Elsewhere{What: k.what, Where: where})
		}
	}
	return all
}

// explainBackup adds what to do about failures that people can fix.
func explainBackup(doing string, err error, next string) error {
	var missing *backup.MissingError
	var other *backup.OtherStoreError
	switch {
	case errors.Is(err, context.Canceled):
		return &exitError{code: exitInterrupted, err: errors.New(doing + " was interrupted"), hint: next}
	case errors.As(err, &missing):
		return &exitError{code: exitFailed, err: err, hint: missing.Advice()}
	case errors.As(err, &other):
		return &exitError{code: exitUsage, err: err, hint: "give --blob-dir or --s3-endpoint and --s3-bucket as the servers have them; the same command with these continues"}
	}
	return &exitError{code: exitFailed, err: fmt.Errorf("%s: %w", doing, err), hint: hintOf(err)}
}

// steps shows how far the parts of a backup are, one bar after another.
type steps struct {
	t    *terminal
	bar  *progress
	step string
}

// stepUnits are what each step counts.
var stepUnits = map[string]string{backup.StepDatabase: "table", backup.StepObjects: "object", backup.StepBooks: "job"}

func (s *steps) update(step string, done, total int64) {
	if s.step != step {
		s.finish()
		s.step, s.bar = step, newProgress(s.t, step)
		s.bar.unit = stepUnits[step]
	}
	s.bar.update(done, total)
}

func (s *steps) finish() {
	if s.bar != nil {
		s.bar.finish()
	}
}
