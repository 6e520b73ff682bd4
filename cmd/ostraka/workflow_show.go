package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

func newWorkflowShow(t *terminal, server *serverFlags) *cobra.Command {
	var output outputFlag
	cmd := &cobra.Command{
		Use: "show NAME|RUN", Short: "Show a workflow with its parameters, or a run with its steps",
		Args: arguments(1), ValidArgsFunction: server.complete(workflowNames), Example: "  ostraka workflow show bpsw",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := output.check(); err != nil {
				return err
			}
			c, err := server.connectProject()
			if err != nil {
				return err
			}
			id, isRun, err := findNamed(cmd.Context(), c, args[0])
			if err != nil {
				return err
			}
			if isRun {
				doc, err := getRun(cmd.Context(), c, id)
				if err != nil {
					return err
				}
				return showRun(t, &output, doc)
			}
			doc, err := getWorkflow(cmd.Context(), c, args[0])
			if err != nil {
				return explain("getting the workflow", err)
			}
			return showWorkflow(t, &output, doc)
		},
	}
	output.register(cmd.Flags())
	return cmd
}

func getRun(ctx context.Context, c *connection, id uuid.UUID) (answer.Document[client.WorkflowRunDetail], error) {
	doc, err := answer.Read[client.WorkflowRunDetail](c.GetWorkflowRun(ctx, c.project, id))
	return doc, explain("getting the run", err)
}

func showWorkflow(t *terminal, o *outputFlag, doc answer.Document[client.WorkflowDetail]) error {
	w := doc.Value
	fields := [][2]string{
		{"workflow", w.Name},
		{"description", plain(w.Description)},
		{"version", strconv.FormatInt(w.Version, 10)},
		{"digest", w.Digest},
		{"open runs", strconv.FormatInt(w.OpenRuns, 10)},
		{"pushed", shortTime(w.PushedAt) + " by " + plain(w.PushedBy)},
	}
	for _, p := range w.Parameters {
		fields = append(fields, [2]string{"parameter", parameterLine(p)})
	}
	for _, f := range w.Functions {
		fields = append(fields, [2]string{"function", functionLine(f)})
	}
	fields = append(fields, partLines(w.Modules, w.Files)...)
	for _, s := range w.Steps {
		text := s.Name + " " + string(s.Type)
		switch {
		case s.Of != "":
			text += " of " + s.Of
		case s.Function != "":
			text += " of " + s.Function
		}
		if s.Module != "" {
			text += " by " + s.Module
		}
		if s.When != "" {
			text += ": " + plain(s.When)
		}
		if len(s.Needs) > 0 {
			text += ", after " + strings.Join(s.Needs, ", ")
		}
		fields = append(fields, [2]string{"step", text})
	}
	return printOne(t, o, doc.Raw, fields)
}

func parameterLine(p client.WorkflowParameter) string {
	text := p.Name + " " + string(p.Type)
	if len(p.Default) > 0 {
		text += " = " + strings.Trim(string(p.Default), `"`)
	} else {
		text += ", which must be given"
	}
	if p.Description != "" {
		text += ": " + p.Description
	}
	return plain(text)
}

func functionLine(f client.PinnedFunction) string {
	return fmt.Sprintf("%s is %s version %d (%s)", f.Name, f.Function, f.Version, shortDigest(f.Digest))
}

// partLines show what the names of modules and files stand for.
func partLines(modules []client.PinnedModule, files []client.PinnedFile) (fields [][2]string) {
	for _, m := range modules {
		what := "built in"
		if m.Version > 0 {
			what = fmt.Sprintf("version %d", m.Version)
		}
		fields = append(fields, [2]string{"module", fmt.Sprintf("%s is the %s %s (%s)", m.Name, m.Kind, what, shortDigest(m.Digest))})
	}
	for _, f := range files {
		fields = append(fields, [2]string{"file", fmt.Sprintf("%s has %d bytes (%s)", f.Name, f.Bytes, shortDigest(f.Digest))})
	}
	return fields
}

func showRun(t *terminal, o *outputFlag, doc answer.Document[client.WorkflowRunDetail]) error {
	r := doc.Value
	fields := [][2]string{
		{"run", r.ID.String()},
		{"workflow", fmt.Sprintf("%s version %d (%s)", r.Workflow, r.Version, shortDigest(r.Digest))},
		{"state", string(r.State)},
		{"error", plain(r.Error)},
		{"started", shortTime(r.StartedAt) + " by " + plain(r.StartedBy)},
	}
	if r.EndedAt != nil {
		fields = append(fields, [2]string{"ended", shortTime(*r.EndedAt)})
	}
	for _, name := range slices.Sorted(maps.Keys(r.Parameters)) {
		fields = append(fields, [2]string{"parameter", plain(name + " = " + strings.Trim(string(r.Parameters[name]), `"`))})
	}
	for _, f := range r.Functions {
		fields = append(fields, [2]string{"function", functionLine(f)})
	}
	fields = append(fields, partLines(r.Modules, r.Files)...)
	for _, s := range r.Steps {
		fields = append(fields, [2]string{"step", stepLine(s)})
		fields = append(fields, rollingFields(s)...)
		fields = append(fields, bisectionFields(s)...)
	}
	return printOne(t, o, doc.Raw, fields)
}

// stepLine says in a line where a step stands.
func stepLine(s client.RunStep) string {
	text := s.Name + " " + string(s.State)
	switch {
	case s.Aggregation != nil:
		text += fmt.Sprintf(": aggregation %d of job %s", *s.Aggregation, s.Job)
	case s.Shards != nil:
		text += fmt.Sprintf(": job %s, %d of %s", s.Job, s.Shards.Total-s.Shards.Open, count(s.Shards.Total, "shard"))
	}
	if p := s.Rolling; p != nil {
		text += fmt.Sprintf(": everything below %s is verified, %s folded, %d open", p.Front, count(p.FoldedJobs, "job"), p.OpenJobs)
		if len(p.Holes) > 0 {
			text += ", " + count(int64(len(p.Holes)), "hole")
		}
	}
	if s.Document != nil {
		text += fmt.Sprintf(": %s, %d bytes", s.Document.Name, s.Document.Bytes)
	}
	if s.Approval != nil {
		text += fmt.Sprintf(", waits for an approval: ostraka approval show %s", s.Approval.ID)
	}
	if s.Error != "" {
		text += ": " + s.Error
	}
	return plain(text)
}
