package main

import (
	"context"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

// jobOptions are the flags of commands that work on one job.
type jobOptions struct {
	outputFlag
	terminal *terminal
	server   *serverFlags
}

// newJobCommand makes a command whose argument is a job.
func newJobCommand(o *jobOptions, use, short, long string, run func(context.Context, *connection, uuid.UUID) error) *cobra.Command {
	cmd := &cobra.Command{
		Use: use + " JOB", Short: short, Long: long, Args: arguments(1),
		ValidArgsFunction: o.server.complete(jobIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(); err != nil {
				return err
			}
			c, id, err := o.server.connectAbout(cmd.Context(), "job", args[0])
			if err != nil {
				return err
			}
			return run(cmd.Context(), c, id)
		},
	}
	o.register(cmd.Flags())
	return cmd
}

func newJobGet(t *terminal, server *serverFlags) *cobra.Command {
	o := &jobOptions{terminal: t, server: server}
	return newJobCommand(o, "get", "Show a job, with its answer when there is one", "", func(ctx context.Context, c *connection, id uuid.UUID) error {
		doc, err := getJob(ctx, c, id)
		if err != nil {
			return err
		}
		return showJob(t, &o.outputFlag, doc.Raw, doc.Value)
	})
}

func getJob(ctx context.Context, c *connection, id uuid.UUID) (answer.Document[client.Job], error) {
	doc, err := answer.Read[client.Job](c.GetJob(ctx, c.project, id, nil))
	return doc, explain("getting the job", err)
}
