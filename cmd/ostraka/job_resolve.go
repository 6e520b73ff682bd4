package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

// jobResolveOptions are the flags of `ostraka job resolve`.
type jobResolveOptions struct {
	jobOptions
	decisionFlags
	retry bool
	fail  bool
}

func newJobResolve(t *terminal, server *serverFlags) *cobra.Command {
	o := &jobResolveOptions{jobOptions: jobOptions{terminal: t, server: server}}
	cmd := &cobra.Command{
		Use:   "resolve JOB SHARD {--accept DIGEST | --retry | --fail} --reason TEXT",
		Short: "Decide about a shard that waits for a person; takes an owner's key",
		Long: `Decide about a shard in review: take one of its outputs as the result, lend it once more, or give it
up. With --retry a shard that was accepted is lent again too, as long as the job has not ended. "ostraka job shard" shows the outputs with their digests. The reason goes into the audit log.`,
		Example: `  ostraka job shards JOB --state review
  ostraka job shard JOB 17
  ostraka job resolve JOB 17 --accept 32039837fe56 --reason "checked by hand"`,
		Args: arguments(2), ValidArgsFunction: server.complete(jobIDs), DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), args[0], args[1]) },
	}
	f := cmd.Flags()
	o.register(f)
	o.registerDecision(f, "take the output with this digest, or the start of it, as the result")
	f.BoolVar(&o.retry, "retry", false, "lease the shard again")
	f.BoolVar(&o.fail, "fail", false, "give the shard up, and the job with it")
	return cmd
}

func (o *jobResolveOptions) run(ctx context.Context, job, shard string) error {
	if err := o.check(); err != nil {
		return err
	}
	decision, err := o.decision()
	if err != nil {
		return err
	}
	c, id, number, err := o.server.connectShard(ctx, job, shard)
	if err != nil {
		return err
	}
	if o.accept != "" {
		if decision.Digest, err = wholeDigest(ctx, c, id, number, o.accept); err != nil {
			return err
		}
	}
	key := uuid.NewString()
	doc, err := answer.Read[client.ShardDetail](c.ResolveShard(ctx, c.project, id, number, &client.ResolveShardParams{IdempotencyKey: &key}, decision))
	if err != nil {
		return explain(fmt.Sprintf("deciding about shard %d", number), err)
	}
	return o.printShard(ctx, c, doc)
}

// decision is what the flags say.
func (o *jobResolveOptions) decision() (client.ShardResolution, error) {
	decision, err := o.decisionFlags.decision("choose one of --accept DIGEST, --retry and --fail",
		choice{"retry", o.retry}, choice{"fail", o.fail})
	return client.ShardResolution{Decision: client.ShardResolutionDecision(decision), Reason: o.reason}, err
}

// wholeDigest finds the one output of the shard whose digest begins like that.
func wholeDigest(ctx context.Context, c *connection, job uuid.UUID, number int64, start string) (string, error) {
	if len(start) == digestLength {
		return start, nil
	}
	doc, err := answer.Read[client.ShardDetail](c.GetShard(ctx, c.project, job, number))
	if err != nil {
		return "", explain("getting the shard", err)
	}
	return chooseDigest(doc.Value.Attempts, start)
}

func chooseDigest(attempts []client.Attempt, start string) (string, error) {
	found := ""
	for _, a := range attempts {
		if !strings.HasPrefix(a.OutputDigest, start) || a.OutputDigest == found {
			continue
		}
		if found != "" {
			return "", &exitError{
				code: exitRefused, err: fmt.Errorf("several outputs of the shard have digests that begin with %s", start),
				hint: "give the whole digest: ostraka job shard JOB SHARD -o json shows it",
			}
		}
		found = a.OutputDigest
	}
	if found == "" {
		return "", &exitError{
			code: exitRefused, err: fmt.Errorf("no output of the shard has a digest that begins with %s", start),
			hint: "ostraka job shard JOB SHARD shows the outputs with their digests",
		}
	}
	return found, nil
}
