package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

func newJobMetrics(t *terminal, server *serverFlags) *cobra.Command {
	var output outputFlag
	cmd := &cobra.Command{
		Use: "metrics JOB", Short: "Show what rules and planners see of a job that has come to an answer", Args: arguments(1), ValidArgsFunction: server.complete(jobIDs),
		Long: `Show the metrics of a job that has come to an answer: shares, times, sizes, what verification cost and is worth,
numbers of the answer, and what heuristics found. The names of -o json are those that a rule sees, for example
metrics.shards.failed_share.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := output.check(); err != nil {
				return err
			}
			c, id, err := server.connectAbout(cmd.Context(), "job", args[0])
			if err != nil {
				return err
			}
			doc, err := answer.Read[client.JobMetrics](c.GetJobMetrics(cmd.Context(), c.project, id))
			if err != nil {
				return explain("getting the metrics", err)
			}
			return printOne(t, &output, doc.Raw, metricsFields(doc.Value))
		},
	}
	output.register(cmd.Flags())
	return cmd
}

func metricsFields(m client.JobMetrics) [][2]string {
	return [][2]string{
		{"shards", fmt.Sprintf("%d: %s accepted, %s failed, %s flagged", m.Shards.Total, percent(m.Shards.AcceptedShare), percent(m.Shards.FailedShare), percent(m.Shards.FlaggedShare))},
		{"elapsed", fmt.Sprintf("%.3g s", m.Times.Elapsed)},
		{"executions", fmt.Sprintf("%d, %.3g a shard", m.Verification.Executions, m.Verification.ExecutionsPerShard)},
		{"took", fmt.Sprintf("%.3g s, %.3g s of processors", m.Times.Wall, m.Times.CPU)},
		{"one took", fmt.Sprintf("at most %.3g s (half), %.3g s (90 %%), %.3g s (99 %%)", m.Times.WallP50, m.Times.WallP90, m.Times.WallP99)},
		{"outputs", fmt.Sprintf("%d bytes, %.3g each", m.Sizes.Outputs, m.Sizes.OutputMean)},
		{"error bound", boundText(m.Verification.ErrorBound)},
		{"audits", fmt.Sprintf("%d passed, %d failed", m.Verification.AuditsPassed, m.Verification.AuditsFailed)},
		{"answer", fmt.Sprintf("%s, %d left out", count(m.Aggregate.Count, "result"), m.Aggregate.LeftOut)},
		{"numbers", numbersText(m.Aggregate.Numbers)},
		{"findings", fmt.Sprintf("%d about %s, the highest score %.3g", m.Findings.Count, count(m.Findings.Shards, "shard"), m.Findings.Highest)},
	}
}

func boundText(bound float64) string {
	if bound >= 1 {
		return "none that is a number"
	}
	return fmt.Sprintf("%.3g", bound)
}

func numbersText(numbers map[string]float64) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(numbers)) {
		all = append(all, fmt.Sprintf("%s=%g", name, numbers[name]))
	}
	return strings.Join(all, " ")
}
