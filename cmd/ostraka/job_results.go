package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

// jobResultsOptions are the flags of `ostraka job results`.
type jobResultsOptions struct {
	terminal *terminal
	server   *serverFlags
	format   string
	file     string
	after    int64
	final    bool
	input    bool
	watching bool
	resume   bool
}

func newJobResults(t *terminal, server *serverFlags) *cobra.Command {
	o := &jobResultsOptions{terminal: t, server: server}
	cmd := &cobra.Command{
		Use:   "results JOB",
		Short: "Print the accepted results as JSON lines, CSV or Parquet, in the order of the shards",
		Long: `Print the accepted results in the order of the shards: as JSON lines, or as CSV or Parquet with a column for each key of
the outputs. An output of more than 64 KiB is not in its line: ostraka object get fetches it by its output_digest. A result
with "provisional" awaits an audit and may be taken back; --final leaves those out.

--watch prints JSON lines as they come, until the job ends, and again what has changed since; tables are written at the end.
--resume continues a --file of JSON lines or CSV that has some of the results: only final ones are written then.`,
		Example: `  ostraka job results @last | jq -c .output
  ostraka job results JOB --with-input --final -o csv > results.csv
  ostraka job results JOB -o parquet --file results.parquet
  ostraka job results JOB --watch --resume --file results.jsonl`,
		Args: arguments(1), ValidArgsFunction: server.complete(jobIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(); err != nil {
				return err
			}
			c, id, err := server.connectAbout(cmd.Context(), "job", args[0])
			if err != nil {
				return err
			}
			return o.run(cmd.Context(), c, id)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&o.format, "output", "o", "json", "how to print: json, which is JSON lines here, csv or parquet")
	f.StringVar(&o.file, "file", "", "write to this file instead of stdout: it is whole under its name, or not there")
	f.Int64Var(&o.after, "after", -1, "begin after the shard of this number")
	f.BoolVar(&o.final, "final", false, "only results that are final")
	f.BoolVar(&o.watching, "watch", false, "until the job ends: JSON lines as they come, tables at the end")
	f.BoolVar(&o.resume, "resume", false, "continue --file, which has some of the final results; an incomplete last line is removed")
	f.BoolVar(&o.input, "with-input", false, "with the input of each shard")
	return cmd
}

func (o *jobResultsOptions) check() error {
	switch {
	case o.format != "json" && o.format != "csv" && o.format != "parquet":
		return usageError("--output %q: choose json, which is JSON lines here, csv or parquet", o.format)
	case o.after < -1:
		return usageError("--after %d: shards count from 0", o.after)
	case o.resume && (o.file == "" || o.format == "parquet" || o.after != -1):
		return usageError("--resume continues a --file of JSON lines or CSV, and finds by itself where: Parquet files are written whole, and --after is not for it")
	case o.watching && o.format == "json" && o.file != "" && !o.resume:
		return usageError("--watch with --file: add --resume, which writes final results only; what is provisional may be taken back after it was written")
	case o.file != "":
		return checkFileToWrite(o.file)
	case o.format == "parquet" && o.terminal.shows:
		return usageError("Parquet is nothing that a terminal can show: name a file with --file, or send it on with | or >")
	}
	return nil
}

// run prints the results, or writes them to the file.
func (o *jobResultsOptions) run(ctx context.Context, c *connection, id uuid.UUID) error {
	o.final = o.final || o.resume
	once := newResultsOnce(bufio.NewWriter(o.terminal.out), o.after)
	once.write = once.lines
	var err error
	if o.watching && o.format != "json" {
		err = o.waitForEnd(ctx, c, id)
	}
	switch {
	case err != nil:
	case o.resume && !o.mustBeWhole():
		err = o.resumeFile(ctx, c, id)
	case o.file != "":
		err = writeWholeFile(o.file, "writing results", func(part io.Writer) error { return o.write(ctx, c, id, part) })
	case o.watching && o.format == "json":
		err = o.watch(ctx, c, id, once)
	default:
		err = o.write(ctx, c, id, o.terminal.out)
	}
	if err != nil || !o.watching {
		return o.stopped(id, once.after(), err)
	}
	doc, err := getJob(ctx, c, id)
	if err != nil {
		return err
	}
	return outcome(doc.Value)
}

// mustBeWhole says that a table has no columns yet: there is nothing in the file to continue with.
func (o *jobResultsOptions) mustBeWhole() bool {
	info, err := os.Stat(o.file)
	return o.format == "csv" && (err != nil || info.Size() == 0)
}

func (o *jobResultsOptions) write(ctx context.Context, c *connection, id uuid.UUID, to io.Writer) error {
	out := bufio.NewWriter(to)
	if o.format == "json" {
		return o.each(ctx, c, id, out.Flush, func(_ client.ResultLine, line []byte) error {
			if _, err := out.Write(append(line, '\n')); err != nil {
				return fmt.Errorf("writing results: %w", err)
			}
			return nil
		})
	}
	table, err := newResultTable()
	if err != nil {
		return err
	}
	defer table.close()
	schema, err := schemaOfJob(ctx, c, id)
	if err != nil {
		return err
	}
	table.outputs.declare(schema)
	if err := o.each(ctx, c, id, func() error { return nil }, table.add); err != nil {
		return err
	}
	if o.format == "parquet" {
		err = table.parquet(out, rowGroupBytes)
	} else {
		err = table.csv(out, o.terminal.shows && o.file == "")
	}
	if err != nil {
		return err
	}
	return out.Flush()
}

// each hands the results out as they come. A stream that breaks off goes on after the last one that was taken.
func (o *jobResultsOptions) each(ctx context.Context, c *connection, id uuid.UUID, flush func() error, take func(client.ResultLine, []byte) error) error {
	tries := newRetries()
	for {
		err := o.copy(ctx, c, id, take, tries)
		if flushErr := flush(); flushErr != nil {
			return fmt.Errorf("writing results: %w", flushErr)
		}
		if err == nil || !answer.Temporary(err) || !tries.again(ctx) {
			return explain("reading results", err)
		}
	}
}

func (o *jobResultsOptions) copy(ctx context.Context, c *connection, id uuid.UUID, take func(client.ResultLine, []byte) error, tries *retries) error {
	body, err := answer.Stream(c.StreamResults(ctx, c.project, id, &client.StreamResultsParams{After: &o.after, Final: &o.final, Input: &o.input}))
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
		if err := take(result, line); err != nil {
			return err
		}
		o.after = result.Shard
		tries.reset()
	}
}
