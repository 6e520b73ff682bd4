package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

func newJobCombine(t *terminal, server *serverFlags) *cobra.Command {
	var output outputFlag
	cmd := &cobra.Command{
		Use: "combine JOB", Short: "Fold a job's answer with that of the jobs whose failed shards it ran again", Args: arguments(1), ValidArgsFunction: server.complete(jobIDs),
		Long: `Fold what a job of "ostraka job rerun --failed" has accepted with what the job before it has, and the ones before that, to one
answer: each result is in it once. No shard runs.`,
		Example: "  ostraka job combine @last",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := output.check(); err != nil {
				return err
			}
			c, id, err := server.connectAbout(cmd.Context(), "job", args[0])
			if err != nil {
				return err
			}
			return printCombined(cmd.Context(), t, &output, c, id)
		},
	}
	output.register(cmd.Flags())
	return cmd
}

func printCombined(ctx context.Context, t *terminal, o *outputFlag, c *connection, job uuid.UUID) error {
	doc, err := answer.Read[client.CombinedAnswer](c.GetCombinedAnswer(ctx, c.project, job))
	if err != nil {
		return explain("folding the jobs to one answer", err)
	}
	a := doc.Value
	ids := make([]string, len(a.Jobs))
	parts := make([][2]string, len(a.Jobs))
	for i, j := range a.Jobs {
		ids[i], parts[i] = j.ID.String(), [2]string{"by version " + strconv.FormatInt(j.Version, 10), combinedJobText(j)}
	}
	missing := ""
	if a.Missing > 0 {
		missing = count(a.Missing, "shard")
	}
	return printOne(t, o, doc.Raw, slices.Concat([][2]string{
		{"of the jobs", strings.Join(ids, " ")},
	}, parts, [][2]string{
		{"results", strconv.FormatInt(a.Count, 10)},
		{"missing", missing},
		{"answer", plain(string(a.Answer))},
	}))
}

// combinedJobText says how many results a job has in a combined answer, and how they were verified.
func combinedJobText(j client.CombinedJob) string {
	text := count(j.Accepted, "result") + "; " + policyText(j.Policy)
	if j.ErrorBound != nil {
		text += fmt.Sprintf(" (error bound %g)", *j.ErrorBound)
	}
	return text
}

// failedShards stores the inputs of the shards that failed, and is the partition over them.
func (o *jobRerunOptions) failedShards(ctx context.Context, c *connection, old client.Job) (p client.Partition, err error) {
	switch {
	case !ended(old.State):
		return p, fmt.Errorf("job %s is %s: what failed of it is known when it has ended", old.ID, old.State)
	case old.Shards.Failed == 0:
		return p, fmt.Errorf("no shard of job %s has failed", old.ID)
	case old.Partition.Kind == client.PartitionKindObjects:
		return p, errors.New("the shards of this job have files, which are named when it is submitted: run it again without --failed, or submit a job over the files of those that failed")
	}
	dir, err := os.MkdirTemp("", "ostraka-failed-")
	if err != nil {
		return p, fmt.Errorf("making a folder for the inputs: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }() // it is in the system's folder for what may be lost
	file := filepath.Join(dir, "failed.jsonl")
	if err := writeFailed(ctx, c, old.ID, file); err != nil {
		return p, err
	}
	object, err := putFile(ctx, o.terminal, c, file)
	if err != nil {
		return p, err
	}
	return client.Partition{Kind: client.PartitionKindItems, Object: object.Value.Digest}, nil
}

// writeFailed writes the inputs of the shards that failed, one a line.
func writeFailed(ctx context.Context, c *connection, job uuid.UUID, name string) (err error) {
	out, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	lines := bufio.NewWriter(out)
	params := client.ListShardsParams{State: new(client.ShardStateFailed), Limit: new(int64(pageSize))}
	for {
		page, err := answer.Read[client.ShardList](c.ListShards(ctx, c.project, job, &params))
		if err != nil {
			return explain("listing the shards that failed", err)
		}
		for _, s := range page.Value.Items {
			if _, err := fmt.Fprintf(lines, "%s\n", s.Input); err != nil {
				return err
			}
		}
		if page.Value.NextCursor == "" {
			return lines.Flush()
		}
		params.Cursor = &page.Value.NextCursor
	}
}
