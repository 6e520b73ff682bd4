package main

import (
	"context"
	"net/http"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
)

// jobListOptions are the flags of `ostraka job list`.
type jobListOptions struct {
	listFlags
	terminal *terminal
	server   *serverFlags
	state    string
	function string
	root     string
}

func newJobList(t *terminal, server *serverFlags) *cobra.Command {
	o := &jobListOptions{terminal: t, server: server}
	cmd := &cobra.Command{
		Use: "list", Short: "List jobs, newest first", Args: arguments(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	f := cmd.Flags()
	o.register(f)
	f.StringVar(&o.state, "state", "", "only jobs in this state: splitting, running, review, held, aggregating, finished, failed or cancelled")
	f.StringVar(&o.function, "function", "", "only jobs of this function")
	f.StringVar(&o.root, "root", "", "only this job and what follows it up")
	return cmd
}

func (o *jobListOptions) run(ctx context.Context) error {
	if err := o.check(); err != nil {
		return err
	}
	params := client.ListJobsParams{}
	if o.state != "" {
		params.State = new(client.JobState(o.state))
	}
	if o.function != "" {
		params.Function = &o.function
	}
	c, err := o.server.connectProject()
	if err != nil {
		return err
	}
	if o.root != "" {
		id, err := findJob(ctx, c, o.root)
		if err != nil {
			return err
		}
		params.Root = &id
	}
	return show(o.terminal, &o.listFlags, "listing jobs", []string{"JOB", "FUNCTION", "STATE", "ACCEPTED", "SHARDS", "CREATED"},
		func(j client.Job) []string {
			return []string{j.ID.String(), j.Function, listedState(j), strconv.FormatInt(j.Shards.Accepted, 10), strconv.FormatInt(j.Shards.Total, 10), shortTime(j.CreatedAt)}
		},
		func(cursor *string, size *int64) (*http.Response, error) {
			params.Cursor, params.Limit = cursor, size
			return c.ListJobs(ctx, c.project, &params)
		})
}
