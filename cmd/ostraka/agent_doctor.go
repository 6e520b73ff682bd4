package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/agent"
	"github.com/ostraka/ostraka/agent/isolation"
)

// agentDoctorOptions are the flags of `ostraka agent doctor`.
type agentDoctorOptions struct {
	terminal *terminal
	options  agent.Options
	json     bool
}

func newAgentDoctor(t *terminal) *cobra.Command {
	o := &agentDoctorOptions{terminal: t}
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Show how well this machine can isolate functions, and how to get what is missing",
		Long: `Try every layer of the sandbox on this machine, run a canary at each level of isolation, and print
what holds, what is missing, and the command that fixes it. Run it as the user who will run the agent.
It changes nothing, and leaves with 1 where no level but "process" holds.`,
		Args: arguments(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	cmd.Flags().StringVar(&o.options.Python, "python", "", pythonUsage)
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}

func (o *agentDoctorOptions) run(ctx context.Context) error {
	report, err := isolation.Examine(ctx, o.options.Python)
	if err != nil {
		return explain("examining this machine", err)
	}
	if o.json {
		err = writeValue(o.terminal.out, report)
	} else {
		err = o.print(report)
	}
	if err == nil && !report.Isolated() {
		err = fmt.Errorf("no isolation but %q can be had on this machine", report.Level)
	}
	return err
}

func (o *agentDoctorOptions) print(report isolation.Examination) error {
	layers := newTable(o.terminal.out, "LAYER", "STATE", "DETAIL")
	for _, l := range report.Layers {
		layers.row(l.Name, string(l.State), firstOf(l.Detail, "-"))
	}
	if err := layers.flush(); err != nil {
		return err
	}
	o.terminal.put("\n")
	levels := newTable(o.terminal.out, "ISOLATION", "HOLDS", "WHY NOT")
	for _, l := range report.Levels {
		levels.row(string(l.Level), yes(l.Holds), firstOf(l.Why, "-"))
	}
	if err := levels.flush(); err != nil {
		return err
	}
	o.terminal.put("\nThis machine isolates functions at the level %s.\n", report.Level)
	told := map[string]bool{}
	for _, l := range report.Layers {
		if l.Fix != "" && !told[l.Fix] {
			told[l.Fix] = true
			o.terminal.put("\nTo have %s:\n  %s\n", l.Name, l.Fix)
		}
	}
	return nil
}
