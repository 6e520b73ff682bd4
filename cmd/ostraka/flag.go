package main

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
)

func newFlag(t *terminal, server *serverFlags) *cobra.Command {
	return noun("flag", "What a person must look at", newFlagList(t, server), newFlagShow(t, server), newFlagResolve(t, server))
}

// flagListOptions are the flags of `ostraka flag list`.
type flagListOptions struct {
	listFlags
	terminal *terminal
	server   *serverFlags
	job      string
	agent    string
	state    string
	kind     string
	rule     string
	function string
}

func newFlagList(t *terminal, server *serverFlags) *cobra.Command {
	o := &flagListOptions{terminal: t, server: server}
	cmd := &cobra.Command{
		Use: "list", Short: "List what a person must look at", Args: arguments(0),
		Long: `List flags: every mismatch, refused submission, passed limit and finding, and every shard that waits
for a person. What happens again is counted by the flag that is there.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	f := cmd.Flags()
	o.register(f)
	f.StringVar(&o.job, "job", "", "only flags of this job; a part of its ID will do, or @last")
	f.StringVar(&o.agent, "agent", "", "only flags about this agent")
	f.StringVar(&o.state, "state", "open", "only flags that are open or resolved; all takes both")
	f.StringVar(&o.kind, "kind", "", "only flags of this kind, such as review, mismatch or finding")
	f.StringVar(&o.rule, "rule", "", "only flags that this rule has raised")
	f.StringVar(&o.function, "function", "", "only flags about this function and its jobs")
	return cmd
}

// flagKinds are those of flag.FlagKinds, which only servers have.
func flagKinds() []string {
	return []string{
		"review", "lost", "failed", "agent_caught", "contradiction", "mismatch", "limit", "sandbox", "signature", "finding",
		"validator", "divergence", "non_deterministic", "controls", "share", "incident",
	}
}

// params are the filters of the list.
func (o *flagListOptions) params() (*client.ListFlagsParams, error) {
	p := &client.ListFlagsParams{Kind: given(o.kind), Rule: given(o.rule), Function: given(o.function)}
	if o.kind != "" && !slices.Contains(flagKinds(), o.kind) {
		return nil, usageError("--kind %q: choose one of %s", o.kind, strings.Join(flagKinds(), ", "))
	}
	state := client.ListFlagsParamsState(o.state)
	if o.state != "open" && o.state != "resolved" && o.state != "all" {
		return nil, usageError("--state %q: choose open, resolved or all", o.state)
	}
	p.State = &state
	if o.agent != "" {
		agent, err := parseID("agent", o.agent)
		if err != nil {
			return nil, err
		}
		p.Agent = &agent
	}
	return p, nil
}

// given is a filter that may be left out.
func given(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func (o *flagListOptions) run(ctx context.Context) error {
	if err := o.check(); err != nil {
		return err
	}
	params, err := o.params()
	if err != nil {
		return err
	}
	c, err := o.server.connectProject()
	if err != nil {
		return err
	}
	if o.job != "" {
		job, err := findJob(ctx, c, o.job)
		if err != nil {
			return err
		}
		params.Job = &job
	}
	return show(o.terminal, &o.listFlags, "listing flags", []string{"FLAG", "KIND", "RULE", "STATE", "JOB", "SHARD", "AGENT", "TIMES", "LAST"},
		func(f client.Flag) []string {
			return []string{
				f.ID.String(), f.Kind, firstOf(f.Rule, "-"), string(f.State), idText(f.Job), numberText(f.Shard), idText(f.Agent),
				strconv.FormatInt(f.Times, 10), shortTime(f.LastAt),
			}
		},
		func(cursor *string, size *int64) (*http.Response, error) {
			page := *params
			page.Cursor, page.Limit = cursor, size
			return c.ListFlags(ctx, c.project, &page)
		})
}
