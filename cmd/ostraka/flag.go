package main

import (
	"context"
	"net/http"
	"strconv"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
)

func newFlag(t *terminal, server *serverFlags) *cobra.Command {
	return noun("flag", "What a person must look at", newFlagList(t, server))
}

// flagListOptions are the flags of `ostraka flag list`.
type flagListOptions struct {
	listFlags
	terminal *terminal
	server   *serverFlags
	job      string
}

func newFlagList(t *terminal, server *serverFlags) *cobra.Command {
	o := &flagListOptions{terminal: t, server: server}
	cmd := &cobra.Command{
		Use: "list", Short: "List what a person must look at", Args: arguments(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	o.register(cmd.Flags())
	cmd.Flags().StringVar(&o.job, "job", "", "only flags of this job")
	return cmd
}

func (o *flagListOptions) run(ctx context.Context) error {
	if err := o.check(); err != nil {
		return err
	}
	var job *uuid.UUID
	if o.job != "" {
		id, err := parseID("job", o.job)
		if err != nil {
			return err
		}
		job = &id
	}
	c, err := o.server.connectProject()
	if err != nil {
		return err
	}
	return show(o.terminal, &o.listFlags, "listing flags", []string{"KIND", "JOB", "SHARD", "AGENT", "CREATED", "DETAIL"},
		func(f client.Flag) []string {
			return []string{f.Kind, idText(f.Job), numberText(f.Shard), idText(f.Agent), shortTime(f.CreatedAt), cut(string(f.Detail))}
		},
		func(cursor *string, size *int64) (*http.Response, error) {
			return c.ListFlags(ctx, c.project, &client.ListFlagsParams{Cursor: cursor, Limit: size, Job: job})
		})
}

func idText(id *uuid.UUID) string {
	if id == nil {
		return "-"
	}
	return id.String()
}

func numberText(n *int64) string {
	if n == nil {
		return "-"
	}
	return strconv.FormatInt(*n, 10)
}
