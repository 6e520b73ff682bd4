package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

// receiptPoll is how often a command asks how far a receipt is: its record is sealed within some seconds.
const receiptPoll = 500 * time.Millisecond

func newJobReceipt(t *terminal, server *serverFlags) *cobra.Command {
	var summary bool
	var output jsonLinesFlag
	cmd := &cobra.Command{
		Use: "receipt JOB", Short: "Print a receipt for the answer of a job that has ended", Args: arguments(1), ValidArgsFunction: server.complete(jobIDs),
		Long: `Print a receipt for the answer of a job that has finished or failed: what was executed, under which policy, what each
shard gave and who gave it, what the answer is, and the proof that the project's sealed log has a record of all that.
It is verified anywhere, without a server, by ostraka receipt verify. Making it takes some seconds; Ctrl-C leaves the
server making it, and the same command goes on waiting.`,
		Example: `  ostraka job receipt JOB > answer.receipt
  ostraka receipt verify answer.receipt --key "$(cat log.key)"`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := output.check(); err != nil {
				return err
			}
			c, id, err := server.connectAbout(cmd.Context(), "job", args[0])
			if err != nil {
				return err
			}
			if err := makeReceipt(cmd.Context(), t, c, id); err != nil {
				return err
			}
			return writeReceipt(cmd.Context(), t.out, c, id, !summary)
		},
	}
	output.register(cmd.Flags())
	cmd.Flags().BoolVar(&summary, "summary", false, "leave the lines of the shards out: at most 64 KiB, whatever the number of shards")
	return cmd
}

// makeReceipt has a receipt made, and waits until it is.
func makeReceipt(ctx context.Context, t *terminal, c *connection, job uuid.UUID) error {
	doc, err := answer.Read[client.JobReceipt](c.MakeReceipt(ctx, c.project, job, &client.MakeReceiptParams{}))
	var refused *answer.Error
	if errors.As(err, &refused) && refused.HTTPStatus == http.StatusForbidden { // who may only read waits for what others have asked for
		doc, err = answer.Read[client.JobReceipt](c.GetReceipt(ctx, c.project, job))
	}
	bar := newProgress(t, "receipt")
	defer bar.finish()
	tick := time.NewTicker(receiptPoll)
	defer tick.Stop()
	for tries := newRetries(); ; {
		switch {
		case err == nil && doc.Value.State == client.JobReceiptStateMade:
			return nil
		case err == nil:
			bar.update(doc.Value.Done, doc.Value.Shards)
			tries.reset()
		case !answer.Temporary(err) || !tries.again(ctx):
			return explain("making the receipt", err)
		}
		select {
		case <-ctx.Done():
			return &exitError{code: exitInterrupted, err: errors.New("interrupted: the server continues to make the receipt"), hint: "the same command continues to wait for it"}
		case <-tick.C:
		}
		doc, err = answer.Read[client.JobReceipt](c.GetReceipt(ctx, c.project, job))
	}
}

// writeReceipt downloads a receipt that was made.
func writeReceipt(ctx context.Context, w io.Writer, c *connection, job uuid.UUID, shards bool) error {
	body, err := answer.Stream(c.DownloadReceipt(ctx, c.project, job, &client.DownloadReceiptParams{Shards: &shards}))
	if err != nil {
		return explain("downloading the receipt", err)
	}
	defer body.Close()
	if _, err := io.Copy(w, body); err != nil {
		return &exitError{code: exitUnreachable, err: fmt.Errorf("downloading the receipt: %w", err), hint: "what was written is not whole: download it again"}
	}
	return nil
}
