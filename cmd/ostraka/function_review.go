package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

// functionReviewOptions are the flags of `ostraka function review`.
type functionReviewOptions struct {
	outputFlag
	terminal *terminal
	server   *serverFlags
	name     string
	version  int64
	allow    bool
	refuse   bool
	reason   string
}

func newFunctionReview(t *terminal, server *serverFlags) *cobra.Command {
	o := &functionReviewOptions{terminal: t, server: server}
	cmd := &cobra.Command{
		Use: "review NAME", Short: "Show what heuristics say about a version, and allow or refuse it", Args: arguments(1),
		ValidArgsFunction: server.complete(functionNames),
		Long: `Show what heuristics have said about a version of a function. Where the project's policy asks for a person,
its jobs are not dispatched until it is allowed; one that is refused takes no new jobs.`,
		Example: "  ostraka function review scrape\n  ostraka function review scrape --version 3 --allow --reason 'the process is ours'",
		RunE: func(cmd *cobra.Command, args []string) error {
			o.name = args[0]
			return o.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	o.register(f)
	f.Int64Var(&o.version, "version", 0, "which version; left out: the newest")
	f.BoolVar(&o.allow, "allow", false, "let its jobs be dispatched")
	f.BoolVar(&o.refuse, "refuse", false, "take no new jobs of it")
	f.StringVar(&o.reason, "reason", "", "why; it is kept in the audit log")
	return cmd
}

func (o *functionReviewOptions) run(ctx context.Context) error {
	if err := o.check(); err != nil {
		return err
	}
	decides := o.allow || o.refuse
	switch {
	case o.allow && o.refuse:
		return usageError("--allow and --refuse exclude one another")
	case decides != (o.reason != ""):
		return usageError("a decision is --allow or --refuse with a --reason")
	}
	c, err := o.server.connectProject()
	if err != nil {
		return err
	}
	if o.version == 0 {
		newest, err := answer.Read[client.FunctionVersion](c.GetFunction(ctx, c.project, o.name))
		if err != nil {
			return explain("getting the function "+o.name, err)
		}
		o.version = newest.Value.Version
	}
	var doc answer.Document[client.CodeReview]
	if decides {
		decision := client.CodeDecision{Decision: "allow", Reason: o.reason}
		if o.refuse {
			decision.Decision = "refuse"
		}
		doc, err = answer.Read[client.CodeReview](c.ReviewCode(ctx, c.project, o.name, o.version, &client.ReviewCodeParams{}, decision))
	} else {
		doc, err = answer.Read[client.CodeReview](c.GetCodeReview(ctx, c.project, o.name, o.version))
	}
	if err != nil {
		return explain("reviewing the function "+o.name, err)
	}
	return o.show(doc)
}

func (o *functionReviewOptions) show(doc answer.Document[client.CodeReview]) error {
	r := doc.Value
	held := "no"
	switch r.Held {
	case "scoring":
		held = "until it has been scored"
	case "review":
		held = "until somebody allows it"
	}
	fields := [][2]string{{"function", o.name}, {"held", held}}
	for _, s := range r.Scores {
		text := s.Error
		if s.Score != nil {
			text = scoreText(*s.Score)
		}
		if s.Decision != "" {
			text += ", " + string(s.Decision)
		}
		if !s.Current {
			text += " (by an earlier version of it, or with other parameters)"
		}
		fields = append(fields, [2]string{s.Heuristic, text})
	}
	return printOne(o.terminal, &o.outputFlag, doc.Raw, fields)
}
