//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ostraka/ostraka/backup"
	"github.com/ostraka/ostraka/devdb"
)

// restoreOptions are the flags of `ostraka restore`: its own and those of a server.
type restoreOptions struct {
	outputFlag
	server      serverOptions
	only        bool // check
	scratch     string
	keepObjects bool
	digest      string
}

func newRestore(t *terminal) *cobra.Command {
	o := &restoreOptions{server: serverOptions{terminal: t}}
	cmd := &cobra.Command{
		Use: "restore DIR", Short: "Make an installation of a backup, or check one", Args: arguments(1),
		Long: `Make an installation of a backup, in a database that holds none and an object store without objects. It takes the
flags, the environment and the file of settings that the server takes. Start servers when it is done, and not before.
Where it fails, the database is left empty, and the same command with --keep-objects goes on.

With --check nothing of an installation is asked or touched: the digests of all pieces are compared, the database is
restored into a PostgreSQL that the command starts for itself and removes, all that is referred to is looked for, and
the books of all jobs must agree. Exit code 1 says that something is wrong.

A backup is code: both execute the SQL in it. Name folders only that you trust, and with --digest what ostraka backup
has printed, which is compared first.`,
		Example: `  ostraka restore --check /backup/ostraka-2026-11-26
  ostraka restore --config /etc/ostraka/server.toml /backup/ostraka-2026-11-26`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.only {
				return o.try(cmd.Context(), args[0])
			}
			return o.restore(cmd.Context(), cmd.Flags(), args[0])
		},
	}
	f := cmd.Flags()
	o.register(f)
	o.server.register(f)
	f.BoolVar(&o.only, "check", false, "restore nothing: say whether it could be")
	f.StringVar(&o.scratch, "scratch-dir", "", "with --check: folder with room for the database, for a while; left out: the one for temporary files")
	f.StringVar(&o.digest, "digest", "", "SHA-256 of the backup's manifest, as ostraka backup has printed it: a folder with another one is refused")
	f.BoolVar(&o.keepObjects, "keep-objects", false, "the object store holds objects of this backup's projects already: an earlier restore was cut off, or it was not lost. No other installation may use it")
	return cmd
}

func (o *restoreOptions) restore(ctx context.Context, flags *pflag.FlagSet, dir string) error {
	if err := o.check(); err != nil {
		return err
	}
	if err := o.server.load(flags); err != nil {
		return err
	}
	objects, err := o.server.config.Objects.open(ctx)
	if err != nil {
		return err
	}
	t := o.server.terminal
	bars := &steps{t: t}
	to := backup.Destination{DatabaseURL: o.server.config.DatabaseURL, Objects: objects, KeepObjects: o.keepObjects, Digest: o.digest}
	restored, err := backup.Restore(ctx, dir, to, bars.update)
	bars.finish()
	if err = errors.Join(err, objects.Close()); err != nil {
		return explainRestore(err)
	}
	if o.json() {
		err = writeValue(t.out, restored)
	} else {
		err = printFields(t, manifestFields(dir, restored.Manifest))
	}
	if restored.Mended > 0 {
		t.say("mended: %s of the store had other bytes than their names say, and were copied again", count(restored.Mended, "object"))
	}
	o.sayNext(restored.Manifest)
	some, all, failed := backup.OpenJobs(ctx, o.server.config.DatabaseURL, restored.Projects)
	if failed != nil {
		return errors.Join(err, &exitError{code: exitFailed, err: failed, hint: "the backup is restored; look with ostraka job list which jobs are open"})
	}
	sayOpen(t, some, all)
	return err
}

// sayOpen names the jobs that were open at the backup: whoever has the receipt of one that ended before the loss knows what is audited of it.
func sayOpen(t *terminal, some []backup.OpenJob, all int64) {
	if all == 0 {
		return
	}
	t.say("%s had not ended at the backup. Of each that has ended since, receipts show by which secret its audits are drawn: cancel it and run it again", count(all, "job"))
	for _, j := range some {
		t.say("  %s job cancel %s --project %s, then %s job rerun %s --project %s", t.program, j.Job, j.Project, t.program, j.Job, j.Project)
	}
	if more := all - int64(len(some)); more > 0 {
		t.say("  and %d more, which %s job list --project PROJECT has", more, t.program)
	}
}

// sayNext says what a restore leaves to people.
func (o *restoreOptions) sayNext(m backup.Manifest) {
	t := o.server.terminal
	sayElsewhere(t, m.Elsewhere)
	t.say("start the servers now. Jobs go on where they were: leases of before run out, and their shards are lent again")
	t.say("what was decided after the backup is gone: revoke again what was revoked since, keys and agents")
	t.say("then have the audit logs begin anew in the open, since agents and others remember what is lost:")
	t.say("  %s audit restart --operator --reason \"restored the backup of %s\"", t.program, m.TakenAt.Format("2006-01-02 15:04"))
	t.say("  %s audit restart --reason \"…\" --project PROJECT   (an owner, for each of %s)", t.program, count(int64(len(m.Projects)), "project"))
}

func explainRestore(err error) error {
	var full *backup.NotEmptyError
	switch {
	case errors.As(err, &full) && full.Same:
		return &exitError{code: exitRefused, err: err, hint: "--keep-objects restores beside them, if an earlier restore was cut off or the store was not lost; no other installation may use it"}
	case errors.As(err, &full):
		return &exitError{code: exitRefused, err: err, hint: "name a database and a bucket (or a folder) that hold no installation"}
	case errors.Is(err, backup.ErrUnfinished):
		return &exitError{code: exitFailed, err: err, hint: "run ostraka backup again with the same folder, or take another backup"}
	}
	return explainBackup("restoring", err, "the database is empty again; run the same command with --keep-objects")
}

func (o *restoreOptions) try(ctx context.Context, dir string) error {
	if err := o.check(); err != nil {
		return err
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return usageError("%s: there is no such folder", dir)
	}
	t := o.server.terminal
	bars := &steps{t: t}
	found, err := backup.Check(ctx, dir, o.scratch, o.digest, bars.update)
	bars.finish()
	if errors.Is(err, devdb.ErrNotInstalled) {
		return &exitError{code: exitFailed, err: err, hint: "--check starts a PostgreSQL of its own: apt-get install postgresql"}
	}
	if err != nil {
		return explainRestore(err)
	}
	if err := o.printChecked(dir, found); err != nil {
		return err
	}
	if found.Wrongs == 0 && len(found.Missing) == 0 {
		t.say("all of it is there and can be restored")
		return nil
	}
	for _, text := range append(found.Wrong, found.Missing...) {
		t.say("wrong: %s", plain(text))
	}
	return &exitError{
		code: exitFailed, err: fmt.Errorf("not all of the backup is as it should be: %d wrong, %d missing (%d of them when it was made)", found.Wrongs, len(found.Missing), found.Objects.Missing),
		hint: "take another backup, and look for what is missing in an older one",
	}
}

func (o *restoreOptions) printChecked(dir string, found backup.Checked) error {
	t := o.server.terminal
	if o.json() {
		return writeValue(t.out, found)
	}
	state := "as this program expects them"
	if found.Behind {
		state = "behind this program: a server migrates them when it starts; their books were not looked into"
	}
	return printFields(t, append(manifestFields(dir, found.Manifest),
		[2]string{"digest", found.Digest}, [2]string{"schemas", state}, [2]string{"books", fmt.Sprintf("of %s looked into", count(found.Jobs, "job"))}))
}
