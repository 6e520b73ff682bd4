package main

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
)

// jobShardsOptions are the flags of `ostraka job shards`.
type jobShardsOptions struct {
	listFlags
	terminal *terminal
	server   *serverFlags
	state    string
}

func newJobShards(t *terminal, server *serverFlags) *cobra.Command {
	o := &jobShardsOptions{terminal: t, server: server}
	cmd := &cobra.Command{
		Use: "shards JOB", Short: "List the shards of a job", Args: arguments(1), ValidArgsFunction: server.complete(jobIDs),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args[0]) },
	}
	o.register(cmd.Flags())
	cmd.Flags().StringVar(&o.state, "state", "", "only shards in this state: open, accepted, review, failed or cancelled")
	return cmd
}

func (o *jobShardsOptions) run(ctx context.Context, job string) error {
	if err := o.check(); err != nil {
		return err
	}
	c, id, err := o.server.connectAbout(ctx, "job", job)
	if err != nil {
		return err
	}
	params := client.ListShardsParams{}
	if o.state != "" {
		params.State = new(client.ShardState(o.state))
	}
	return show(o.terminal, &o.listFlags, "listing shards", []string{"SHARD", "STATE", "WANTED", "OUT", "INPUT", "WHY"},
		func(s client.Shard) []string {
			return []string{
				strconv.FormatInt(s.Number, 10), string(s.State), strconv.FormatInt(s.Wanted, 10), strconv.FormatInt(s.Lent, 10),
				cut(string(s.Input)), reasonsText(s.Reasons),
			}
		},
		func(cursor *string, size *int64) (*http.Response, error) {
			params.Cursor, params.Limit = cursor, size
			return c.ListShards(ctx, c.project, id, &params)
		})
}

func reasonsText(reasons []client.VerdictReason) string {
	texts := make([]string, len(reasons))
	for i, r := range reasons {
		texts[i] = r.Text
	}
	return strings.Join(texts, "; ")
}
