package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

func newAgentMetrics(t *terminal, server *serverFlags) *cobra.Command {
	var output outputFlag
	var since, step time.Duration
	cmd := &cobra.Command{
		Use: "metrics AGENT", Short: "Show the history of an agent's machine; takes an operator's key",
		Long: `Show how an agent's machine was: processors, load, memory, disk, network, sandboxes and battery. Samples of
each minute are kept for 24 hours, averages and maxima of each hour for 30 days.`,
		Example: "  ostraka agent metrics 0190a5d4-5b7a-7c3e-8f21-6d1e0c9b8a77 --since 168h --step 6h",
		Args:    arguments(1), ValidArgsFunction: server.complete(agentIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := output.check(); err != nil {
				return err
			}
			id, err := parseID("agent", args[0])
			if err != nil {
				return err
			}
			if since <= 0 || step < 0 {
				return usageError("--since and --step are times such as 6h")
			}
			c, err := server.connect()
			if err != nil {
				return err
			}
			params := &client.GetAgentTelemetryParams{From: new(time.Now().Add(-since).UTC())}
			if step > 0 {
				params.Step = new(step.String())
			}
			doc, err := answer.Read[client.AgentTelemetry](c.GetAgentTelemetry(cmd.Context(), id, params))
			if err != nil {
				return explain("getting the agent's metrics", err)
			}
			if output.json() {
				return writeJSON(t.out, doc.Raw)
			}
			return printMetrics(t, doc.Value.Points)
		},
	}
	output.register(cmd.Flags())
	cmd.Flags().DurationVar(&since, "since", time.Hour, "how far to look back, 720h at most")
	cmd.Flags().DurationVar(&step, "step", 0, "how long each row is; left out: what fits")
	return cmd
}

func printMetrics(t *terminal, points []client.TelemetryPoint) error {
	if len(points) == 0 {
		t.say("there are none for this time")
		return nil
	}
	cpu := make([]float64, len(points))
	table := newTable(t.out, "AT", "CPU %", "MAX", "LOAD", "MEMORY", "MAX", "DISK", "SENT", "RECEIVED", "SANDBOXES", "BATTERY %")
	for i, p := range points {
		cpu[i] = p.CPUPercentAvg
		battery := "-"
		if p.BatteryPercentMin != nil {
			battery = fmt.Sprintf("%.0f", *p.BatteryPercentMin)
		}
		table.row(shortTime(p.At), fmt.Sprintf("%.0f", p.CPUPercentAvg), fmt.Sprintf("%.0f", p.CPUPercentMax), fmt.Sprintf("%.2f", p.Load1Avg),
			sizeOf(p.MemoryUsedBytesAvg), sizeOf(p.MemoryUsedBytesMax), sizeOf(p.DiskUsedBytesAvg),
			sizeOf(p.SentBytes), sizeOf(p.ReceivedBytes), fmt.Sprint(p.SandboxesMax), battery)
	}
	if err := table.flush(); err != nil {
		return err
	}
	t.say("processors %s (0 to 100 %%)", sparkline(cpu, 100))
	return nil
}

// sparkline draws values from 0 to most as bars.
func sparkline(values []float64, most float64) string {
	bars := []rune("▁▂▃▄▅▆▇█")
	var line strings.Builder
	for _, v := range values {
		line.WriteRune(bars[max(0, min(len(bars)-1, int(v/most*float64(len(bars)))))])
	}
	return line.String()
}
