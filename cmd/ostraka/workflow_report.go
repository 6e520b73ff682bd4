package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
)

// workflowFetch are the flags of `ostraka workflow report` and `ostraka workflow certificates`.
type workflowFetch struct {
	terminal *terminal
	server   *serverFlags
	file     string
	kind     client.RunStepType
}

func newWorkflowReport(t *terminal, server *serverFlags) *cobra.Command {
	o := &workflowFetch{terminal: t, server: server, kind: client.RunStepTypeReport}
	return o.command(&cobra.Command{
		Use: "report RUN STEP", Short: "Read the document that a step of the type report has made",
		Example: "  ostraka workflow report 01a1fe3b-6802-78bf-aa3a-e26a4f42cf10 page --file page.html",
	}, func(ctx context.Context, c *connection, step client.RunStep) error {
		if step.Document == nil {
			return &exitError{code: exitFailed, err: fmt.Errorf("step %s is %s, and there is no document", plain(step.Name), step.State), hint: "ostraka workflow run shows why"}
		}
		return getObject(ctx, t, c, step.Document.Digest, o.file)
	})
}

func newWorkflowCertificates(t *terminal, server *serverFlags) *cobra.Command {
	o := &workflowFetch{terminal: t, server: server, kind: client.RunStepTypeProve}
	return o.command(&cobra.Command{
		Use: "certificates RUN STEP", Short: "Read what a step of the type prove has proved, as one file",
		Long: `Read what a step of the type prove has proved, as one file: its accepted results, a line each. Each has proved itself to
the validator of the step; ostraka certificate verify FILE does so again, without a server.`,
		Example: "  ostraka workflow certificates 01a1fe3b-6802-78bf-aa3a-e26a4f42cf10 proofs --file proofs.jsonl",
	}, func(ctx context.Context, c *connection, step client.RunStep) error {
		if step.Job == nil {
			return &exitError{code: exitFailed, err: fmt.Errorf("step %s is %s, and has no job", plain(step.Name), step.State), hint: "ostraka workflow run shows why"}
		}
		results := &jobResultsOptions{terminal: t, server: server, format: "json", file: o.file, after: -1, final: true}
		return results.run(ctx, c, *step.Job)
	})
}

// command fills in what both commands share.
func (o *workflowFetch) command(cmd *cobra.Command, fetch func(ctx context.Context, c *connection, step client.RunStep) error) *cobra.Command {
	cmd.Args, cmd.ValidArgsFunction = arguments(2), o.server.complete(workflowRunIDs)
	cmd.Flags().StringVar(&o.file, "file", "", "write to this file instead of stdout: it is whole under its name, or not there")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if o.file != "" {
			if err := checkFileToWrite(o.file); err != nil {
				return err
			}
		}
		c, err := o.server.connectProject()
		if err != nil {
			return err
		}
		id, err := findRun(cmd.Context(), c, args[0])
		if err != nil {
			return err
		}
		doc, err := getRun(cmd.Context(), c, id)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(doc.Value.Steps, func(s client.RunStep) bool { return s.Name == args[1] && s.Type == o.kind })
		if i < 0 {
			return &exitError{code: exitUsage, err: fmt.Errorf("the run has no step %q of the type %s", args[1], o.kind), hint: "ostraka workflow graph " + id.String() + " shows the steps"}
		}
		return fetch(cmd.Context(), c, doc.Value.Steps[i])
	}
	return cmd
}
