package main

import (
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/agent"
	"github.com/ostraka/ostraka/agent/ledger"
)

func newAgentHistory(t *terminal) *cobra.Command {
	var output outputFlag
	var data dataFlag
	var days int
	cmd := &cobra.Command{
		Use:   "history",
		Short: "Say what the agent on this machine has done for whom, day by day",
		Long: `Say what the agent on this machine has done for whom, day by day. The agent keeps it in its folder for 90 days,
and writes it down every 10 seconds; no server is asked. A day tells 256 functions apart.`,
		Example: "  ostraka agent history --days 7\n  ostraka agent history -o json",
		Args:    arguments(0),
		RunE: func(*cobra.Command, []string) error {
			if err := output.check(); err != nil {
				return err
			}
			if days < 1 || days > ledger.KeptDays {
				return usageError("--days %d: choose 1 to %d", days, ledger.KeptDays)
			}
			dir, err := data.dir()
			if err != nil {
				return err
			}
			if _, err := agent.ReadStatus(dir); err != nil { // says when there is no agent
				return err
			}
			entries, err := agent.ReadHistory(dir)
			if err != nil {
				return err
			}
			return printHistory(t, &output, entries, time.Now().AddDate(0, 0, 1-days))
		},
	}
	output.register(cmd.Flags())
	data.register(cmd.Flags())
	cmd.Flags().IntVar(&days, "days", 30, "how many days to go back, today included")
	return cmd
}

func printHistory(t *terminal, o *outputFlag, entries []ledger.Entry, from time.Time) error {
	first := from.Local().Format(time.DateOnly)
	entries = slices.DeleteFunc(entries, func(e ledger.Entry) bool { return e.Day < first })
	if o.json() {
		return writeValue(t.out, append([]ledger.Entry{}, entries...))
	}
	return printRows(t, o, entries, nil, []string{"DAY", "PROJECT", "FUNCTION", "VERSION", "SHARDS", "FAILED", "PROCESSOR TIME", "OUTPUTS"}, func(e ledger.Entry) []string {
		project, version := e.Project.String(), strconv.FormatInt(e.Version, 10)
		if e.Project == uuid.Nil {
			project, version = "-", "-"
		}
		return []string{
			e.Day, project, plain(e.Function), version, strconv.FormatInt(e.Shards, 10), strconv.FormatInt(e.Failed, 10),
			(time.Duration(e.CPUMicros) * time.Microsecond).Round(time.Millisecond).String(), sizeOf(e.OutputBytes),
		}
	})
}
