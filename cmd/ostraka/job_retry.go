package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

// reviewPage is how many shards in review are listed at a time, as many as the server gives.
const reviewPage = 500

// jobRetryOptions are the flags of `ostraka job retry`.
type jobRetryOptions struct {
	jobOptions
	reason string
}

func newJobRetry(t *terminal, server *serverFlags) *cobra.Command {
	o := &jobRetryOptions{jobOptions: jobOptions{terminal: t, server: server}}
	cmd := &cobra.Command{
		Use:   "retry JOB --reason TEXT",
		Short: "Lease all shards of a job again that wait for a person; takes an owner's key",
		Long: `Lend all shards of a job once more that are in review, one after the other, as "ostraka job resolve --retry" does for one. A shard that
goes to review again meanwhile is left there. When it is cut off, the same command goes on. The reason goes into the audit log.`,
		Example: `  ostraka job retry JOB --reason "the machine that lost them is gone"`,
		Args:    arguments(1), ValidArgsFunction: server.complete(jobIDs), DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args[0]) },
	}
	o.register(cmd.Flags())
	cmd.Flags().StringVar(&o.reason, "reason", "", "why, for the audit log")
	return cmd
}

func (o *jobRetryOptions) run(ctx context.Context, job string) error {
	if err := o.check(); err != nil {
		return err
	}
	if _, err := (&decisionFlags{reason: o.reason}).decision("", choice{"retry", true}); err != nil {
		return err
	}
	c, id, err := o.server.connectAbout(ctx, "job", job)
	if err != nil {
		return err
	}
	retried, err := o.retryAll(ctx, c, id)
	if retried > 0 {
		o.terminal.say("lent once more: %s", count(int64(retried), "shard"))
	}
	if err != nil {
		return err
	}
	doc, err := answer.Read[client.Job](c.GetJob(ctx, c.project, id, nil))
	if err != nil {
		return explain("getting the job", err)
	}
	return showJob(o.terminal, &o.outputFlag, doc.Raw, doc.Value)
}

// retryAll goes through the shards by their numbers, so that none is retried twice.
func (o *jobRetryOptions) retryAll(ctx context.Context, c *connection, job uuid.UUID) (retried int, err error) {
	params := client.ListShardsParams{State: new(client.ShardStateReview), Limit: new(int64(reviewPage))}
	for {
		page, err := answer.Read[client.ShardList](c.ListShards(ctx, c.project, job, &params))
		if err != nil {
			return retried, explain("listing shards in review", err)
		}
		for _, s := range page.Value.Items {
			key := uuid.NewString()
			decision := client.ShardResolution{Decision: client.ShardResolutionDecisionRetry, Reason: o.reason}
			_, err := answer.Read[client.ShardDetail](c.ResolveShard(ctx, c.project, job, s.Number, &client.ResolveShardParams{IdempotencyKey: &key}, decision))
			if decidedMeanwhile(err) {
				continue
			}
			if err != nil {
				return retried, explain(fmt.Sprintf("deciding about shard %d", s.Number), err)
			}
			retried++
		}
		if page.Value.NextCursor == "" {
			return retried, nil
		}
		params.Cursor = &page.Value.NextCursor
	}
}

// decidedMeanwhile says whether somebody else has decided about the shard.
func decidedMeanwhile(err error) bool {
	return errors.Is(err, answer.Code("not_in_review"))
}
