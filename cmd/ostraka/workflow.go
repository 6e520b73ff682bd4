package main

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

func newWorkflow(t *terminal, server *serverFlags) *cobra.Command {
	return noun("workflow", "Workflows: steps that belong together, versioned as one",
		newWorkflowPush(t, server), newWorkflowDiff(t, server), newWorkflowStart(t, server), newWorkflowList(t, server), newWorkflowShow(t, server), newWorkflowGraph(t, server),
		newWorkflowRuns(t, server), newWorkflowRun(t, server), newWorkflowReport(t, server), newWorkflowCertificates(t, server),
		newWorkflowPause(t, server), newWorkflowResume(t, server), newWorkflowCancel(t, server),
		newWorkflowExtend(t, server), newWorkflowRetry(t, server), newWorkflowDelete(t, server))
}

func newWorkflowList(t *terminal, server *serverFlags) *cobra.Command {
	cmd := newList(server, "List workflows", func(ctx context.Context, c *connection, l *listFlags) error {
		return show(t, l, "listing workflows", []string{"NAME", "VERSION", "DIGEST", "OPEN RUNS", "PUSHED"},
			func(w client.Workflow) []string {
				return []string{w.Name, strconv.FormatInt(w.Version, 10), shortDigest(w.Digest), strconv.FormatInt(w.OpenRuns, 10), shortTime(w.PushedAt)}
			},
			func(cursor *string, size *int64) (*http.Response, error) {
				return c.ListWorkflows(ctx, c.project, &client.ListWorkflowsParams{Cursor: cursor, Limit: size})
			})
	})
	cmd.Example = "  ostraka workflow list -o json"
	return cmd
}

func newWorkflowRuns(t *terminal, server *serverFlags) *cobra.Command {
	var state string
	var l listFlags
	cmd := &cobra.Command{
		Use: "runs [NAME]", Short: "List runs of workflows, the newest first",
		Example: "  ostraka workflow runs bpsw --state running",
		Args:    cobra.MaximumNArgs(1), ValidArgsFunction: server.complete(workflowNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := l.check(); err != nil {
				return err
			}
			c, err := server.connectProject()
			if err != nil {
				return err
			}
			params := client.ListWorkflowRunsParams{}
			if len(args) == 1 {
				params.Workflow = &args[0]
			}
			if state != "" {
				params.State = new(client.ListWorkflowRunsParamsState(state))
			}
			return show(t, &l, "listing runs", []string{"RUN", "WORKFLOW", "VERSION", "STATE", "STARTED", "BY"},
				func(r client.WorkflowRun) []string {
					return []string{r.ID.String(), r.Workflow, strconv.FormatInt(r.Version, 10), string(r.State), shortTime(r.StartedAt), r.StartedBy}
				},
				func(cursor *string, size *int64) (*http.Response, error) {
					params.Cursor, params.Limit = cursor, size
					return c.ListWorkflowRuns(cmd.Context(), c.project, &params)
				})
		},
	}
	l.register(cmd.Flags())
	cmd.Flags().StringVar(&state, "state", "", "only runs in this state: running, paused, finished, failed or cancelled")
	return cmd
}

// aboutRun makes a command about one run.
func aboutRun(t *terminal, server *serverFlags, verb, doing, short string, do func(ctx context.Context, c *connection, id uuid.UUID) (*http.Response, error)) *cobra.Command {
	var output outputFlag
	cmd := &cobra.Command{
		Use: verb + " RUN", Short: short, Args: arguments(1), ValidArgsFunction: server.complete(workflowRunIDs),
		Example: "  ostraka workflow " + verb + " 01a1fe3b-6802-78bf-aa3a-e26a4f42cf10",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := output.check(); err != nil {
				return err
			}
			c, err := server.connectProject()
			if err != nil {
				return err
			}
			id, err := findRun(cmd.Context(), c, args[0])
			if err != nil {
				return err
			}
			doc, err := answer.Read[client.WorkflowRunDetail](do(cmd.Context(), c, id))
			if err != nil {
				return explain(doing+" the run", err)
			}
			return showRun(t, &output, doc)
		},
	}
	output.register(cmd.Flags())
	return cmd
}

func newWorkflowRun(t *terminal, server *serverFlags) *cobra.Command {
	return aboutRun(t, server, "run", "getting", "Show a run with its steps", func(ctx context.Context, c *connection, id uuid.UUID) (*http.Response, error) {
		return c.GetWorkflowRun(ctx, c.project, id)
	})
}

func newWorkflowPause(t *terminal, server *serverFlags) *cobra.Command {
	return aboutRun(t, server, "pause", "pausing", "Start no further step of a run; jobs under way continue", func(ctx context.Context, c *connection, id uuid.UUID) (*http.Response, error) {
		return c.PauseWorkflowRun(ctx, c.project, id, nil)
	})
}

func newWorkflowResume(t *terminal, server *serverFlags) *cobra.Command {
	return aboutRun(t, server, "resume", "resuming", "Let the steps of a paused run begin again", func(ctx context.Context, c *connection, id uuid.UUID) (*http.Response, error) {
		return c.ResumeWorkflowRun(ctx, c.project, id, nil)
	})
}

func newWorkflowCancel(t *terminal, server *serverFlags) *cobra.Command {
	return aboutRun(t, server, "cancel", "cancelling", "Cancel a run and its jobs", func(ctx context.Context, c *connection, id uuid.UUID) (*http.Response, error) {
		return c.CancelWorkflowRun(ctx, c.project, id, nil)
	})
}

func newWorkflowDelete(t *terminal, server *serverFlags) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "delete NAME|RUN", Short: "Delete a workflow with its versions and runs, or one run",
		Long: "Delete a workflow with its versions and runs, or one run. What has not ended is not deleted. Functions and jobs stay; reports and " +
			"certificates of the runs go, and @last is then the newest run of another workflow.",
		Args: arguments(1), ValidArgsFunction: server.complete(workflowNames),
		Example: "  ostraka workflow delete bpsw --yes\n  ostraka workflow delete 01a1fe3b-6802-78bf-aa3a-e26a4f42cf10",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := server.connectProject()
			if err != nil {
				return err
			}
			id, isRun, err := findNamed(cmd.Context(), c, args[0])
			if err != nil {
				return err
			}
			if isRun {
				if _, err := answer.Read[struct{}](c.DeleteWorkflowRun(cmd.Context(), c.project, id)); err != nil {
					return explain("deleting the run", err)
				}
				t.say("deleted the run %s", id)
				return nil
			}
			if err := t.confirm(cmd.Context(), yes, "deleting the workflow "+args[0]+" with all its runs, their reports and certificates"); err != nil {
				return err
			}
			if err := deleteWorkflow(cmd.Context(), c, args[0]); err != nil {
				return explain("deleting the workflow", err)
			}
			t.say("deleted the workflow %s and its runs: @last is the newest run of another one now", args[0])
			return nil
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "delete a workflow with its runs without being asked")
	return cmd
}

// deleteWorkflow deletes the workflow as it is now. Somebody who pushes another version in between is not overruled.
func deleteWorkflow(ctx context.Context, c *connection, name string) error {
	doc, err := getWorkflow(ctx, c, name)
	if err != nil {
		return err
	}
	tag := doc.Header.Get("ETag")
	if tag == "" {
		return errors.New("the server sent no ETag with the workflow")
	}
	_, err = answer.Read[struct{}](c.DeleteWorkflow(ctx, c.project, name, &client.DeleteWorkflowParams{IfMatch: &tag}))
	return err
}

func getWorkflow(ctx context.Context, c *connection, name string) (answer.Document[client.WorkflowDetail], error) {
	return answer.Read[client.WorkflowDetail](c.GetWorkflow(ctx, c.project, name, nil))
}

func workflowNames(ctx context.Context, c *connection) ([]string, error) {
	return suggestions(func(w client.Workflow) string { return w.Name + "\t" + w.Description },
		func(cursor *string, size *int64) (*http.Response, error) {
			return c.ListWorkflows(ctx, c.project, &client.ListWorkflowsParams{Cursor: cursor, Limit: size})
		})
}

func workflowRunIDs(ctx context.Context, c *connection) ([]string, error) {
	return suggestions(func(r client.WorkflowRun) string { return r.ID.String() + "\t" + r.Workflow + ", " + string(r.State) },
		func(cursor *string, size *int64) (*http.Response, error) {
			return c.ListWorkflowRuns(ctx, c.project, &client.ListWorkflowRunsParams{Cursor: cursor, Limit: size})
		})
}
