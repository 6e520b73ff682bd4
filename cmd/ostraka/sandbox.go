package main

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

func newSandbox(t *terminal, server *serverFlags) *cobra.Command {
	return noun("sandbox", "What runs on agents now",
		newSandboxList(t, server), newSandboxInspect(t, server), newSandboxMetrics(t, server), newSandboxTerminate(t, server))
}

// sideFlag says for whom a command asks: for a project, or as an operator for the whole installation.
type sideFlag struct {
	server *serverFlags
	all    bool
}

func (s *sideFlag) register(flags *pflag.FlagSet) {
	flags.BoolVar(&s.all, "all", false, "of all projects; takes an operator's key")
}

func (s *sideFlag) connect() (*connection, error) {
	if s.all {
		return s.server.connect()
	}
	return s.server.connectProject()
}

// agentFlag narrows a list to one agent.
type agentFlag struct{ text string }

func (a *agentFlag) register(flags *pflag.FlagSet) {
	flags.StringVar(&a.text, "agent", "", "only those of this agent")
}

func (a *agentFlag) id() (*uuid.UUID, error) {
	if a.text == "" {
		return nil, nil
	}
	id, err := parseID("agent", a.text)
	return &id, err
}

// sandboxListOptions are the flags of the commands that list sandboxes.
type sandboxListOptions struct {
	listFlags
	sideFlag
	agentFlag
	terminal *terminal
	job      string
	function string
	ended    bool
}

func (o *sandboxListOptions) register(flags *pflag.FlagSet) {
	o.listFlags.register(flags)
	o.sideFlag.register(flags)
	o.agentFlag.register(flags)
	flags.StringVar(&o.job, "job", "", "only those that work on this job")
	flags.StringVar(&o.function, "function", "", "only those that run a version of this function")
}

// filter is what of the list is wanted.
func (o *sandboxListOptions) filter() (f client.ListSandboxesParams, err error) {
	f = client.ListSandboxesParams{Running: new(!o.ended)}
	if f.Agent, err = o.id(); err != nil {
		return f, err
	}
	if o.function != "" {
		f.Function = &o.function
	}
	if o.job != "" {
		id, err := parseID("job", o.job)
		f.Job = &id
		return f, err
	}
	return f, nil
}

// show lists sandboxes as they were last reported.
func (o *sandboxListOptions) show(ctx context.Context, doing string, headings []string, row func(client.Sandbox) []string) error {
	if err := o.check(); err != nil {
		return err
	}
	filter, err := o.filter()
	if err != nil {
		return err
	}
	c, err := o.connect()
	if err != nil {
		return err
	}
	return show(o.terminal, &o.listFlags, doing, headings, row, func(cursor *string, size *int64) (*http.Response, error) {
		filter.Cursor, filter.Limit = cursor, size
		if o.all {
			return c.ListSandboxes(ctx, &filter)
		}
		return c.ListProjectSandboxes(ctx, c.project, new(client.ListProjectSandboxesParams(filter)))
	})
}

func newSandboxList(t *terminal, server *serverFlags) *cobra.Command {
	o := &sandboxListOptions{terminal: t, sideFlag: sideFlag{server: server}}
	cmd := &cobra.Command{
		Use: "list", Short: "List the sandboxes that run for the project", Args: arguments(0),
		Long: `List the sandboxes that run, as the agents' heartbeats report them: each works on one lease. One that
lives for less than two seconds may never be reported.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.show(cmd.Context(), "listing sandboxes", []string{"SANDBOX", "STATE", "AGENT", "FUNCTION", "JOB", "SHARD", "LEVEL", "STARTED", "ALERTS"},
				func(b client.Sandbox) []string {
					return []string{
						b.ID.String(), string(b.State), b.AgentName, functionOf(b), b.Job.String(), numberText(b.Shard), b.Level, shortTime(b.StartedAt), alertsOf(b.Alerts),
					}
				})
		},
	}
	o.register(cmd.Flags())
	cmd.Flags().BoolVar(&o.ended, "ended", false, "also those that have ended, or that are silent, in the last 24 hours")
	return cmd
}

func newSandboxMetrics(t *terminal, server *serverFlags) *cobra.Command {
	o := &sandboxListOptions{terminal: t, sideFlag: sideFlag{server: server}}
	cmd := &cobra.Command{
		Use: "metrics [SANDBOX]", Short: "Show what sandboxes use: all that run now, or one over time", Args: argumentsBetween(0, 1),
		Long: `Show what sandboxes use. Without a sandbox: the latest figures of each one that runs. With one: its
history, a row a heartbeat for an hour and then the peaks of every five minutes for a day.

Processor time is in percent of one processor. The network of a sandbox in a namespace without a way
out is "none", which is proven; "shared" means that it has the machine's own network.`,
		ValidArgsFunction: server.complete(sandboxIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				return o.history(cmd.Context(), args[0])
			}
			return o.show(cmd.Context(), "reading the figures of sandboxes", []string{"SANDBOX", "AGENT", "FUNCTION", "CPU", "MEMORY", "WORKSPACE", "NETWORK", "PROCESSES", "OUTPUT"},
				func(b client.Sandbox) []string {
					if b.Sample == nil {
						return []string{b.ID.String(), b.AgentName, functionOf(b), "-", "-", "-", "-", "-", "-"}
					}
					s := *b.Sample
					return append([]string{b.ID.String(), b.AgentName, functionOf(b)}, figures(s.CPUPercent, s.MemoryBytes, s.WorkspaceBytes, s.NetworkBytes, string(s.Network), s.Processes, s.OutputBytes)...)
				})
		},
	}
	o.register(cmd.Flags())
	return cmd
}

// history shows what one sandbox was like.
func (o *sandboxListOptions) history(ctx context.Context, text string) error {
	if err := o.check(); err != nil {
		return err
	}
	id, err := parseID("sandbox", text)
	if err != nil {
		return err
	}
	c, err := o.connect()
	if err != nil {
		return err
	}
	return show(o.terminal, &o.listFlags, "reading the sandbox's history", []string{"TIME", "CPU", "MEMORY", "WORKSPACE", "NETWORK", "PROCESSES", "OUTPUT"},
		func(s client.SandboxSample) []string {
			return append([]string{shortTime(s.At)}, figures(s.CPUPercent, s.MemoryBytes, s.WorkspaceBytes, s.NetworkBytes, string(s.Network), s.Processes, s.OutputBytes)...)
		},
		func(_ *string, _ *int64) (*http.Response, error) {
			if o.all {
				return c.ListSandboxSamples(ctx, id, nil)
			}
			return c.ListProjectSandboxSamples(ctx, c.project, id, nil)
		})
}

// sandboxOptions are the flags of commands about one sandbox.
type sandboxOptions struct {
	outputFlag
	sideFlag
	terminal *terminal
	force    bool
}

func (o *sandboxOptions) command(use, short, long string, doing string, call func(ctx context.Context, c *connection, id uuid.UUID) (*http.Response, error)) *cobra.Command {
	cmd := &cobra.Command{
		Use: use + " SANDBOX", Short: short, Long: long, Args: arguments(1), ValidArgsFunction: o.server.complete(sandboxIDs),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(); err != nil {
				return err
			}
			id, err := parseID("sandbox", args[0])
			if err != nil {
				return err
			}
			c, err := o.connect()
			if err != nil {
				return err
			}
			doc, err := answer.Read[client.Sandbox](call(cmd.Context(), c, id))
			if err != nil {
				return explain(doing, err)
			}
			return printOne(o.terminal, &o.outputFlag, doc.Raw, sandboxFields(doc.Value))
		},
	}
	o.outputFlag.register(cmd.Flags())
	o.sideFlag.register(cmd.Flags())
	return cmd
}

func newSandboxInspect(t *terminal, server *serverFlags) *cobra.Command {
	o := &sandboxOptions{terminal: t, sideFlag: sideFlag{server: server}}
	return o.command("inspect", "Show everything that is known of a sandbox", "", "reading the sandbox",
		func(ctx context.Context, c *connection, id uuid.UUID) (*http.Response, error) {
			if o.all {
				return c.GetSandbox(ctx, id)
			}
			return c.GetProjectSandbox(ctx, c.project, id)
		})
}

func newSandboxTerminate(t *terminal, server *serverFlags) *cobra.Command {
	o := &sandboxOptions{terminal: t, sideFlag: sideFlag{server: server}}
	cmd := o.command("terminate", "End a sandbox after its shard, or with --force at once",
		`End a sandbox: after the shard that it runs, or with --force at once. What it has not done is lent again,
perhaps to the same agent: to keep something from running, see ostraka killswitch.`, "ending the sandbox",
		func(ctx context.Context, c *connection, id uuid.UUID) (*http.Response, error) {
			how := client.Termination{Force: o.force}
			if o.all {
				return c.TerminateSandbox(ctx, id, nil, how)
			}
			return c.TerminateProjectSandbox(ctx, c.project, id, nil, how)
		})
	cmd.Flags().BoolVar(&o.force, "force", false, "at once, in the middle of a shard")
	return cmd
}

func sandboxIDs(ctx context.Context, c *connection) ([]string, error) {
	return suggestions(func(b client.Sandbox) string { return b.ID.String() + "\t" + functionOf(b) + " on " + b.AgentName },
		func(cursor *string, size *int64) (*http.Response, error) {
			return c.ListProjectSandboxes(ctx, c.project, &client.ListProjectSandboxesParams{Cursor: cursor, Limit: size, Running: new(true)})
		})
}

func sandboxFields(b client.Sandbox) [][2]string {
	fields := [][2]string{
		{"sandbox", b.ID.String()},
		{"state", string(b.State)},
		{"agent", b.AgentName + " (" + b.Agent.String() + ")"},
		{"function", functionOf(b)},
		{"project", b.Project.String()},
		{"job", b.Job.String()},
		{"lease", b.Lease.String()},
		{"shard", numberText(b.Shard)},
		{"isolation", b.Level},
		{"started", shortTime(b.StartedAt)},
		{"last heard of", shortTime(b.SeenAt)},
	}
	if b.Terminate != "" {
		fields = append(fields, [2]string{"ordered to end", string(b.Terminate)})
	}
	if b.EndedAt != nil {
		fields = append(fields, [2]string{"ended", shortTime(*b.EndedAt) + ": " + b.EndReason})
	}
	if b.Sample != nil {
		s := *b.Sample
		names := []string{"processor", "memory", "workspace", "network", "processes", "output"}
		for i, figure := range figures(s.CPUPercent, s.MemoryBytes, s.WorkspaceBytes, s.NetworkBytes, string(s.Network), s.Processes, s.OutputBytes) {
			fields = append(fields, [2]string{names[i], figure})
		}
	}
	for _, a := range b.Alerts {
		fields = append(fields, [2]string{string(a.Level), shortTime(a.At) + " " + a.Text})
	}
	return fields
}

// figures are the cells of a sample.
func figures(cpu float64, memory, workspace, network int64, kind string, processes, output int64) []string {
	return []string{
		fmt.Sprintf("%.0f%%", cpu), sizeOf(memory), sizeOf(workspace), networkOf(network, kind), strconv.FormatInt(processes, 10), sizeOf(output),
	}
}

func networkOf(carried int64, kind string) string {
	if kind == "own" {
		return sizeOf(carried)
	}
	return kind
}

func functionOf(b client.Sandbox) string { return fmt.Sprintf("%s@%d", b.Function, b.Version) }

// alertsOf counts what people should look at.
func alertsOf(alerts []client.Alert) string {
	warnings, criticals := 0, 0
	for _, a := range alerts {
		switch a.Level {
		case client.AlertLevelWarning:
			warnings++
		case client.AlertLevelCritical:
			criticals++
		case client.AlertLevelRecovered: // it is over
		}
	}
	if warnings+criticals == 0 {
		return "-"
	}
	return fmt.Sprintf("%d critical, %d warning", criticals, warnings)
}
