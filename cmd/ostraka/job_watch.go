package main

import (
	"context"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
)

func newJobWatch(t *terminal, server *serverFlags) *cobra.Command {
	o := &jobOptions{terminal: t, server: server}
	return newJobCommand(o, "watch", "Follow a job until it ends",
		"Follow a job until it ends, and print it then. Ctrl-C stops watching, not the job.",
		func(ctx context.Context, c *connection, id uuid.UUID) error {
			w := &watcher{c: c, job: id, progress: newProgress(t, "done")}
			if err := w.follow(ctx); err != nil {
				return stoppedWaiting(t, id, err)
			}
			doc, err := getJob(ctx, c, id)
			if err != nil {
				return err
			}
			if err := showJob(t, &o.outputFlag, doc.Raw, doc.Value); err != nil {
				return err
			}
			mentionFlags(ctx, t, c, id)
			return outcome(doc.Value)
		})
}
