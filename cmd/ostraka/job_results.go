package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

// jobResultsOptions are the flags of `ostraka job results`.
type jobResultsOptions struct {
	jsonLinesFlag
	terminal *terminal
	server   *serverFlags
	after    int64
}

func newJobResults(t *terminal, server *serverFlags) *cobra.Command {
	o := &jobResultsOptions{terminal: t, server: server}
	cmd := &cobra.Command{
		Use:   "results JOB",
		Short: "Print the accepted results as JSON lines, in the order of the shards",
		Long: `Print the accepted results as JSON lines, in the order of the shards. An output of more than 64 KiB
is not in its line: ostraka object get fetches it by its output_digest.`,
		Args: arguments(1), ValidArgsFunction: server.complete(jobIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(); err != nil {
				return err
			}
			c, id, err := server.connectAbout("job", args[0])
			if err != nil {
				return err
			}
			return o.run(cmd.Context(), c, id)
		},
	}
	o.register(cmd.Flags())
	cmd.Flags().Int64Var(&o.after, "after", -1, "begin after the shard of this number")
	return cmd
}

// run copies the lines as they come. A stream that breaks off goes on after the last line that was printed.
func (o *jobResultsOptions) run(ctx context.Context, c *connection, id uuid.UUID) error {
	out := bufio.NewWriter(o.terminal.out)
	tries := newRetries()
	for {
		err := o.copy(ctx, c, id, out, tries)
		if flushErr := out.Flush(); flushErr != nil {
			return fmt.Errorf("writing results: %w", flushErr)
		}
		if err == nil || !answer.Temporary(err) || !tries.again(ctx) {
			return explain("reading results", err)
		}
	}
}

func (o *jobResultsOptions) copy(ctx context.Context, c *connection, id uuid.UUID, out io.Writer, tries *retries) error {
	body, err := answer.Stream(c.StreamResults(ctx, c.project, id, &client.StreamResultsParams{After: &o.after}))
	if err != nil {
		return err
	}
	defer body.Close()
	lines := client.NewResultReader(body)
	for {
		result, line, err := lines.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return &answer.Unreachable{Err: err}
		}
		if _, err := out.Write(append(line, '\n')); err != nil {
			return fmt.Errorf("writing results: %w", err)
		}
		o.after = result.Shard
		tries.reset()
	}
}
