package main

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

func newJobExplain(t *terminal, server *serverFlags) *cobra.Command {
	o := &jobOptions{terminal: t, server: server}
	return newJobCommand(o, "explain", "Say why a job is not done, and what would help", "", func(ctx context.Context, c *connection, id uuid.UUID) error {
		doc, err := answer.Read[client.Explanation](c.ExplainJob(ctx, c.project, id))
		if err != nil {
			return explain("asking why the job is not done", err)
		}
		if o.json() {
			return writeJSON(t.out, doc.Raw)
		}
		e := doc.Value
		fmt.Fprintf(t.out, "%s: %s\n", e.State, plain(e.Summary))
		for _, r := range e.Reasons {
			fmt.Fprintf(t.out, "- %s\n", plain(r.Text))
			if r.Hint != "" {
				fmt.Fprintf(t.out, "  hint: %s\n", plain(r.Hint))
			}
		}
		return nil
	})
}

// mentionFlags names the open flags of a job, for the person who has watched it.
func mentionFlags(ctx context.Context, t *terminal, c *connection, job uuid.UUID) {
	doc, err := answer.Read[client.Explanation](c.ExplainJob(ctx, c.project, job))
	if err != nil {
		t.say("whether the job has open flags cannot be found out now: %v", err)
		return
	}
	for _, r := range doc.Value.Reasons {
		if r.Code == "flags" {
			t.say("%s\n  %s flag list --job %s", plain(r.Text), t.program, job)
		}
	}
}

// warn says what speaks against the policy of a job.
func warn(t *terminal, warnings []client.Reason) {
	for _, w := range warnings {
		t.say("warning: %s\n  hint: %s", plain(w.Text), plain(w.Hint))
	}
}

// warnStuck warns of a job that the agents and servers at hand cannot bring to its end, as soon as it is submitted.
func warnStuck(ctx context.Context, t *terminal, c *connection, job uuid.UUID) {
	doc, err := answer.Read[client.Explanation](c.ExplainJob(ctx, c.project, job))
	if err != nil {
		return // the job is submitted; a waiting command hears of it again
	}
	for _, r := range doc.Value.Reasons {
		switch r.Code { // which of them it is depends on how far the job has come meanwhile
		case "too_few_owners", "recheck_nobody", "no_agents", "too_few_agents":
			t.say("warning: %s\n  hint: %s", plain(r.Text), plain(r.Hint))
		}
	}
}
