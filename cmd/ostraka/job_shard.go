package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

// newJobShard shows one shard.
func newJobShard(t *terminal, server *serverFlags) *cobra.Command {
	o := &jobOptions{terminal: t, server: server}
	cmd := &cobra.Command{
		Use: "shard JOB NUMBER", Short: "Show a shard with all its attempts, and why they failed", Args: arguments(2), ValidArgsFunction: server.complete(jobIDs),
		RunE: func(cmd *cobra.Command, args []string) error { return o.showShard(cmd.Context(), args[0], args[1]) },
	}
	o.register(cmd.Flags())
	return cmd
}

// connectShard is connectAbout for one shard of a job.
func (f *serverFlags) connectShard(ctx context.Context, job, shard string) (*connection, uuid.UUID, int64, error) {
	number, err := strconv.ParseInt(shard, 10, 64)
	if err != nil || number < 0 {
		return nil, uuid.Nil, 0, usageError("%q is not the number of a shard: they count from 0", shard)
	}
	c, id, err := f.connectAbout(ctx, "job", job)
	return c, id, number, err
}

func (o *jobOptions) showShard(ctx context.Context, job, shard string) error {
	if err := o.check(); err != nil {
		return err
	}
	c, id, number, err := o.server.connectShard(ctx, job, shard)
	if err != nil {
		return err
	}
	doc, err := answer.Read[client.ShardDetail](c.GetShard(ctx, c.project, id, number))
	if err != nil {
		return explain("getting the shard", err)
	}
	return o.printShard(ctx, c, doc)
}

// printShard prints a shard, its attempts, and what is known about the first that failed.
func (o *jobOptions) printShard(ctx context.Context, c *connection, doc answer.Document[client.ShardDetail]) error {
	if o.json() {
		return writeJSON(o.terminal.out, doc.Raw)
	}
	s := doc.Value
	err := printOne(o.terminal, &o.outputFlag, nil, [][2]string{
		{"shard", strconv.FormatInt(s.Number, 10)}, {"state", string(s.State)}, {"input", cut(string(s.Input))}, {"why", reasonsText(s.Reasons)},
	})
	if err != nil || len(s.Attempts) == 0 {
		return err
	}
	names, err := lookUpNames(ctx, c)
	if err != nil {
		names = nil // their IDs do as well
	}
	fmt.Fprintln(o.terminal.out)
	if err := printAttempts(o.terminal, s.Attempts, names); err != nil {
		return err
	}
	printFailure(o.terminal, s.Attempts, names)
	printUnjudged(o.terminal, s.Attempts, names)
	return nil
}

// printUnjudged says for which results it is unknown whether they matter.
func printUnjudged(t *terminal, attempts []client.Attempt, names agentNames) {
	for _, a := range attempts {
		if a.ConfirmError != "" {
			t.put("\nconfirm could not be evaluated on the output of %s, so that it matters:\n%s", plain(names.of(a.Agent)), indented(a.ConfirmError))
		}
	}
}

func printAttempts(t *terminal, attempts []client.Attempt, names agentNames) error {
	table := newTable(t.out, "AGENT", "STATUS", "ACCEPTED", "OUTPUT", "DIGEST", "TOOK", "REPORTED", "EXCEPTION")
	for _, a := range attempts {
		table.row(names.of(a.Agent), a.Status, yes(a.Accepted), cut(string(a.Output)), shortDigest(a.OutputDigest),
			(time.Duration(a.WallUs) * time.Microsecond).Round(time.Millisecond).String(), shortTime(a.ReportedAt), cut(diagnosticsOf(a).exceptionText()))
	}
	return table.flush()
}

// diagnostics are what an attempt says for people. All of it was chosen by the agent.
type diagnostics struct {
	Exception  *client.Exception `json:"exception"`
	StdoutTail string            `json:"stdout_tail"`
	StderrTail string            `json:"stderr_tail"`
}

// diagnosticsOf reads what the attempt says. What cannot be read counts as nothing: -o json shows it as it is.
func diagnosticsOf(a client.Attempt) (d diagnostics) {
	if len(a.Diagnostics) == 0 || json.Unmarshal(a.Diagnostics, &d) != nil {
		return diagnostics{}
	}
	return d
}

func (d diagnostics) exceptionText() string {
	if d.Exception == nil {
		return "-"
	}
	if d.Exception.Message == "" {
		return d.Exception.Type
	}
	return d.Exception.Type + ": " + d.Exception.Message
}

// printFailure prints all that the first failed attempt says: the others most likely say the same.
func printFailure(t *terminal, attempts []client.Attempt, names agentNames) {
	failed, found := firstFailure(attempts)
	if !found {
		return
	}
	d, who := diagnosticsOf(failed), plain(names.of(failed.Agent))
	if d.Exception != nil {
		t.put("\n%s on %s:\n", plain(d.exceptionText()), who)
		t.put("%s", indented(d.Exception.Traceback))
	}
	for _, tail := range []struct{ name, text string }{{"stdout", d.StdoutTail}, {"stderr", d.StderrTail}} {
		if tail.text != "" {
			t.put("\nthe end of %s on %s:\n%s", tail.name, who, indented(tail.text))
		}
	}
}

// firstFailure is the first attempt with an exception, or else the first that failed some other way.
func firstFailure(attempts []client.Attempt) (first client.Attempt, found bool) {
	for _, a := range attempts {
		if diagnosticsOf(a).Exception != nil {
			return a, true
		}
		if a.Status != "ok" && !found {
			first, found = a, true
		}
	}
	return first, found
}

// indented is foreign text of several lines, safe for a terminal.
func indented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString("  " + plain(strings.TrimRight(line, "\r\n")) + "\n")
	}
	return b.String()
}
