package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

func newJobStats(t *terminal, server *serverFlags) *cobra.Command {
	o := &jobOptions{terminal: t, server: server}
	cmd := newJobCommand(o, "stats", "Show the times, memory and sizes of a job's accepted results",
		`Show quantiles of the times, the memory and the sizes of a job's accepted results, and the ten slowest and the ten
largest shards with their agents, while the job runs too. Of a job of more than a million shards some pages are looked
at, evenly spread; it says so then.`,
		func(ctx context.Context, c *connection, id uuid.UUID) error {
			doc, err := answer.Read[client.JobStats](c.GetJobStats(ctx, c.project, id))
			if err != nil {
				return explain("getting the statistics", err)
			}
			if o.json() {
				return printOne(t, &o.outputFlag, doc.Raw, nil)
			}
			return showStats(ctx, t, c, doc.Value)
		})
	cmd.Example = `  ostraka job stats @last
  ostraka job stats JOB -o json | jq '.slowest[].shard'`
	return cmd
}

func showStats(ctx context.Context, t *terminal, c *connection, s client.JobStats) error {
	of := ""
	if s.LookedAt < s.Accepted {
		of = fmt.Sprintf("; what follows is of %d of them", s.LookedAt)
	}
	t.put("%s%s\n\n", count(s.Accepted, "accepted result"), of)
	quantiles := newTable(t.out, "", "HALF AT MOST", "90 %", "99 %", "LARGEST")
	for _, q := range []struct {
		name string
		of   client.TimeQuantiles
	}{{"seconds", s.Wall}, {"of processors", s.CPU}} {
		quantiles.row(q.name, secondsText(q.of.P50), secondsText(q.of.P90), secondsText(q.of.P99), secondsText(q.of.Max))
	}
	for _, q := range []struct {
		name string
		of   client.SizeQuantiles
	}{{"bytes of memory", s.Memory}, {"bytes of output", s.Output}} {
		quantiles.row(q.name, bytesText(q.of.P50), bytesText(q.of.P90), bytesText(q.of.P99), bytesText(q.of.Max))
	}
	if err := quantiles.flush(); err != nil {
		return err
	}
	names, err := lookUpNames(ctx, c)
	if err != nil {
		names = agentNames{} // then they are shown by their IDs
	}
	for _, part := range []struct {
		title string
		of    []client.ShardStats
	}{{"the slowest", s.Slowest}, {"the largest", s.Largest}} {
		if err := showShardStats(t, part.title, part.of, names); err != nil {
			return err
		}
	}
	return nil
}

func showShardStats(t *terminal, title string, shards []client.ShardStats, names agentNames) error {
	t.put("\n%s:\n", title)
	table := newTable(t.out, "SHARD", "SECONDS", "OF PROCESSORS", "MEMORY", "OUTPUT", "AGENT")
	for _, s := range shards {
		table.row(strconv.FormatInt(s.Shard, 10), secondsText(s.Wall), secondsText(s.CPU), bytesText(s.Memory), bytesText(s.Output), names.of(s.Agent))
	}
	return table.flush()
}

func secondsText(s float64) string { return fmt.Sprintf("%.3g", s) }

func bytesText(n int64) string { return strconv.FormatInt(n, 10) }
