package main

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

// Words of package functions, which programs for other systems do not contain.
const (
	keptModuleRuns = 1000 // functions.MaxModuleRuns
	runEndedWell   = "ok" // functions.RunOK
)

// moduleRunsOptions are the flags of `ostraka module runs`.
type moduleRunsOptions struct {
	listFlags
	terminal *terminal
	server   *serverFlags
	name     string
	run      string
	version  int64
	failed   bool
	job      string
	input    bool
}

func newModuleRuns(t *terminal, server *serverFlags) *cobra.Command {
	o := &moduleRunsOptions{terminal: t, server: server}
	cmd := &cobra.Command{
		Use: "runs NAME [RUN]", Short: "List what the server has run a module for, or show one run",
		Long: fmt.Sprintf(`List what the server has run a module for, the newest first, or show one run.

A batch that failed is a run by itself; those that ended well are counted, one line
for each phase of each aggregation, each job of a validator, and each version of a
heuristic. The newest %d of each module are kept.

Of a batch that failed, --input prints all that the module read, to run it again here.`, keptModuleRuns),
		Example: `  ostraka module runs fold --failed
  ostraka module runs fold RUN --input >batch.jsonl
  ostraka module test fold.wasm --kind aggregator --input batch.jsonl`,
		Args: argumentsBetween(1, 2), ValidArgsFunction: server.complete(moduleNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.name = args[0]
			if len(args) > 1 {
				o.run = args[1]
			}
			return o.execute(cmd.Context())
		},
	}
	o.register(cmd.Flags())
	cmd.Flags().Int64Var(&o.version, "version", 0, "only runs of this version")
	cmd.Flags().BoolVar(&o.failed, "failed", false, "only batches that failed")
	cmd.Flags().StringVar(&o.job, "job", "", "only runs for this job")
	cmd.Flags().BoolVar(&o.input, "input", false, "print the whole batch of the run")
	return cmd
}

func (o *moduleRunsOptions) execute(ctx context.Context) error {
	if err := o.check(); err != nil {
		return err
	}
	switch {
	case o.run == "" && o.input:
		return usageError("the batch of which run? name it after the module")
	case o.run != "" && (o.failed || o.version != 0 || o.job != ""):
		return usageError("--failed, --version and --job choose among runs: leave them out, or the run")
	case o.version < 0:
		return usageError("--version is %d: versions count from 1", o.version)
	}
	c, err := o.server.connectProject()
	if err != nil {
		return err
	}
	if o.run == "" {
		return o.list(ctx, c)
	}
	id, err := parseID("run", o.run)
	if err != nil {
		return err
	}
	doc, err := answer.Read[client.ModuleRun](c.GetModuleRun(ctx, c.project, o.name, id))
	if err != nil {
		return explain("getting the run "+o.run, err)
	}
	if !o.input {
		return printOne(o.terminal, &o.outputFlag, doc.Raw, runFields(doc.Value))
	}
	if doc.Value.Input == nil {
		why := doc.Value.InputMissing
		if why == "" {
			why = "it ended well"
		}
		return &exitError{code: exitFailed, err: fmt.Errorf("the batch of run %s was not kept: %s", o.run, why), hint: "batches that failed are kept"}
	}
	return getObject(ctx, o.terminal, c, *doc.Value.Input, "")
}

func (o *moduleRunsOptions) list(ctx context.Context, c *connection) error {
	params := client.ListModuleRunsParams{}
	if o.version > 0 {
		params.Version = &o.version
	}
	if o.failed {
		params.State = new(client.ListModuleRunsParamsState("failed"))
	}
	if o.job != "" {
		id, err := findJob(ctx, c, o.job)
		if err != nil {
			return err
		}
		params.Job = &id
	}
	return show(o.terminal, &o.listFlags, "listing the runs of the module "+o.name,
		[]string{"RUN", "VERSION", "JOB", "PHASE", "RESULT", "BATCHES", "RECORDS", "FUEL", "ENDED", "MESSAGE"},
		func(r client.ModuleRun) []string {
			return []string{
				r.ID.String(), numberText(r.Version), idText(r.Job), r.Phase, r.Class, strconv.FormatInt(r.Times, 10), strconv.FormatInt(r.InLines, 10),
				strconv.FormatInt(r.Fuel, 10), shortTime(r.EndedAt), cut(plain(r.Message)),
			}
		},
		func(cursor *string, size *int64) (*http.Response, error) {
			params.Cursor, params.Limit = cursor, size
			return c.ListModuleRuns(ctx, c.project, o.name, &params)
		})
}

// runFields are a run in words.
func runFields(r client.ModuleRun) [][2]string {
	version := "built in"
	if r.Version != nil {
		version = strconv.FormatInt(*r.Version, 10)
	}
	fields := [][2]string{
		{"run", r.ID.String()},
		{"module", r.Module},
		{"version", version},
		{"digest", r.Digest},
		{"kind", r.Kind + ", " + r.Phase},
		{"job", idText(r.Job)},
		{"aggregation", numberText(r.Aggregation)},
		{"for", plain(r.Step)},
		{"result", r.Class},
		{"message", plain(r.Message)},
		{"hint", plain(r.Hint)},
		{"batches", strconv.FormatInt(r.Times, 10)},
		{"started", shortTime(r.StartedAt)},
		{"ended", shortTime(r.EndedAt)},
		{"time", time.Duration(r.WallNs).Round(time.Microsecond).String()},
		{"fuel", fmt.Sprintf("%d units, %d at most in a batch", r.Fuel, r.FuelMost)},
		{"peak memory", fmt.Sprintf("%d KiB", r.Memory>>10)},
		{"in", fmt.Sprintf("%d records, %d bytes", r.InLines, r.InBytes)},
		{"out", fmt.Sprintf("%d lines, %d bytes", r.OutLines, r.OutBytes)},
	}
	if r.Class != runEndedWell {
		fields = append(fields, [][2]string{{"exit code", strconv.FormatInt(r.ExitCode, 10)}, {"trap", plain(r.Trap)}}...)
	}
	for _, frame := range r.Frames {
		fields = append(fields, [2]string{"frame", plain(frame)})
	}
	fields = append(fields, [2]string{"stderr", plain(strings.TrimSpace(r.Stderr))})
	if r.Input != nil && r.InputBytes != nil {
		fields = append(fields, [2]string{"batch", fmt.Sprintf("%d bytes: ostraka module runs %s %s --input", *r.InputBytes, r.Module, r.ID)})
	}
	return append(fields, [2]string{"batch missing", plain(r.InputMissing)})
}
