package main

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
	"github.com/ostraka/ostraka/runtime/bundle"
)

// functionGetOptions are the flags of `ostraka function get`.
type functionGetOptions struct {
	outputFlag
	terminal *terminal
	server   *serverFlags
	name     string
	version  int64
}

func newFunctionGet(t *terminal, server *serverFlags) *cobra.Command {
	o := &functionGetOptions{terminal: t, server: server}
	cmd := &cobra.Command{
		Use: "get NAME", Short: "Show a function with its manifest", Args: arguments(1),
		ValidArgsFunction: server.complete(functionNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.name = args[0]
			return o.run(cmd.Context())
		},
	}
	o.register(cmd.Flags())
	cmd.Flags().Int64Var(&o.version, "version", 0, "which version; left out: the newest")
	return cmd
}

func (o *functionGetOptions) run(ctx context.Context) error {
	if err := o.check(); err != nil {
		return err
	}
	c, err := o.server.connectProject()
	if err != nil {
		return err
	}
	get := func() (*http.Response, error) { return c.GetFunction(ctx, c.project, o.name) }
	if o.version != 0 {
		get = func() (*http.Response, error) { return c.GetFunctionVersion(ctx, c.project, o.name, o.version) }
	}
	doc, err := answer.Read[client.FunctionVersion](get())
	if err != nil {
		return explain("getting the function "+o.name, err)
	}
	f := doc.Value
	return printOne(o.terminal, &o.outputFlag, doc.Raw, [][2]string{
		{"name", f.Name},
		{"version", strconv.FormatInt(f.Version, 10)},
		{"digest", f.Digest},
		{"size", bundle.FormatBytes(f.Size)},
		{"created", shortTime(f.CreatedAt)},
		{"about", f.Manifest.Description},
		{"runtime", f.Manifest.Runtime},
		{"runs", firstOf(f.Manifest.Entrypoint, f.Manifest.Script, f.Manifest.Entry)},
		{"takes", perText(f.Manifest.Per)},
		{"verification", verificationText(f.Manifest.Verification)},
		{"aggregator", aggregatorText(f.Manifest.Aggregator)},
		{"isolation", "at least " + f.Manifest.MinIsolation},
		{"warm", warmText(f.Manifest.Warm)},
		{"memory", bundle.FormatBytes(f.Manifest.Limits.MemoryBytes)},
		{"time", timeText(f.Manifest.Limits)},
	})
}

// perText says what a function is called with; nothing where it is the usual.
func perText(per string) string {
	if per == bundle.PerItem {
		return "the items of a shard, one by one"
	}
	return ""
}

func verificationText(v client.Verification) string {
	text := policyText(client.Policy{
		Quorum: v.Quorum, None: v.None, TargetError: v.TargetError, AssumeHostile: v.AssumeHostile, AnswerError: v.AnswerError, Recheck: v.Recheck, Confirm: v.Confirm,
	})
	if v.Validator != nil {
		text += ", compared by " + v.Validator.Module
	}
	return text
}

func timeText(l client.Limits) string {
	if l.Fuel > 0 {
		return fmt.Sprintf("%d units of fuel, %d s of clock", l.Fuel, l.WallSeconds)
	}
	return fmt.Sprintf("%d s of processor, %d s of clock", l.CPUSeconds, l.WallSeconds)
}

func aggregatorText(a *client.Aggregator) string {
	if a == nil {
		return ""
	}
	return a.Module
}

func warmText(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d on each agent", n)
}
