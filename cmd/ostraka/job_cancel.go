package main

import (
	"context"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

func newJobCancel(t *terminal, server *serverFlags) *cobra.Command {
	o := &jobOptions{terminal: t, server: server}
	return newJobCommand(o, "cancel", "Cancel a job", "Cancel a job. Results that were accepted stay readable; cancelling twice is harmless.",
		func(ctx context.Context, c *connection, id uuid.UUID) error {
			doc, err := answer.Read[client.Job](c.CancelJob(ctx, c.project, id, nil))
			if err != nil {
				return explain("cancelling the job", err)
			}
			return showJob(t, &o.outputFlag, doc.Raw, doc.Value)
		})
}
