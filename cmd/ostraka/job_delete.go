package main

import (
	"context"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

func newJobDelete(t *terminal, server *serverFlags) *cobra.Command {
	o := &jobOptions{terminal: t, server: server}
	var yes bool
	cmd := newJobCommand(o, "delete", "Delete a job that has ended", `Delete a job that has ended, with its shards, results, evidence, events and flags. Nothing of it can be
read from then on; the server removes it page by page. Its objects go when nothing has referred to them
for a day. What agents and their owners have earned stays, and the audit log says that the job was
deleted, and by which key. An archive of the job goes with it: to keep it, fetch it first with ostraka archive
download, or the results with ostraka job results.`,
		func(ctx context.Context, c *connection, id uuid.UUID) error {
			if err := t.confirm(ctx, yes, "deleting job "+id.String()); err != nil {
				return err
			}
			doc, err := answer.Read[client.Job](c.DeleteJob(ctx, c.project, id))
			if err != nil {
				return explain("deleting the job", err)
			}
			if o.json() {
				return writeJSON(t.out, doc.Raw)
			}
			j := doc.Value
			t.say("deleted job %s of %s version %d, with %s, results, evidence, events and flags", j.ID, j.Function, j.Version, count(j.Shards.Total, "shard"))
			return nil
		})
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}
