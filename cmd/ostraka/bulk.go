package main

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

func newBulk(t *terminal, server *serverFlags) *cobra.Command {
	return noun("bulk", "One thing that is done to many flags, jobs or agents",
		newBulkStart(t, server), newBulkList(t, server), newBulkShow(t, server), newBulkCancel(t, server), newBulkRetry(t, server), newBulkUndo(t, server))
}

func newBulkList(t *terminal, server *serverFlags) *cobra.Command {
	cmd := newList(server, "List bulk actions, the newest first", func(ctx context.Context, c *connection, l *listFlags) error {
		return show(t, l, "listing bulk actions", []string{"BULK", "ACTION", "STATE", "DONE", "FAILED", "LEFT", "CREATED"},
			func(b client.BulkAction) []string {
				return []string{
					b.ID.String(), fmt.Sprintf("%s %s", b.Action, b.Subject), string(b.State), strconv.FormatInt(b.Done, 10),
					strconv.FormatInt(b.Failed, 10), strconv.FormatInt(b.Left, 10), shortTime(b.CreatedAt),
				}
			},
			func(cursor *string, size *int64) (*http.Response, error) {
				return c.ListBulkActions(ctx, c.project, &client.ListBulkActionsParams{Cursor: cursor, Limit: size})
			})
	})
	cmd.Example = "  ostraka bulk list -o json"
	return cmd
}

// aboutBulk makes a command about one bulk action.
func aboutBulk(server *serverFlags, verb, short string, do func(ctx context.Context, c *connection, id uuid.UUID, output *outputFlag) error) *cobra.Command {
	o := &outputFlag{}
	cmd := &cobra.Command{
		Use: verb + " BULK", Short: short, Args: arguments(1), DisableFlagsInUseLine: true,
		Example: "  ostraka bulk " + verb + " BULK",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(); err != nil {
				return err
			}
			c, id, err := server.connectAbout(cmd.Context(), "bulk action", args[0])
			if err != nil {
				return err
			}
			return do(cmd.Context(), c, id, o)
		},
	}
	o.register(cmd.Flags())
	return cmd
}

func newBulkShow(t *terminal, server *serverFlags) *cobra.Command {
	return aboutBulk(server, "show", "Show how far a bulk action is, and what failed", func(ctx context.Context, c *connection, id uuid.UUID, o *outputFlag) error {
		doc, err := getBulk(ctx, c, id)
		if err != nil {
			return err
		}
		return printBulk(t, o, doc)
	})
}

func getBulk(ctx context.Context, c *connection, id uuid.UUID) (answer.Document[client.BulkActionDetail], error) {
	doc, err := answer.Read[client.BulkActionDetail](c.GetBulkAction(ctx, c.project, id))
	return doc, explain("getting the bulk action", err)
}

// printBulk prints a bulk action as fields, and then what failed.
func printBulk(t *terminal, o *outputFlag, doc answer.Document[client.BulkActionDetail]) error {
	b := doc.Value
	fields := [][2]string{
		{"bulk", b.ID.String()},
		{"does", fmt.Sprintf("%s %s", b.Action, count(b.Total, one(string(b.Subject))))},
		{"state", string(b.State)},
		{"detail", plain(b.Detail)},
		{"done", strconv.FormatInt(b.Done, 10)},
		{"failed", strconv.FormatInt(b.Failed, 10)},
		{"left", strconv.FormatInt(b.Left, 10)},
		{"reason", plain(b.Reason)},
		{"by", plain(b.CreatedBy)},
	}
	if b.Undo != "" {
		fields = append(fields, [2]string{"undo", fmt.Sprintf("%s: ostraka bulk undo %s --reason TEXT", b.Undo, b.ID)})
	}
	for _, f := range b.Failures {
		fields = append(fields, [2]string{"failure", fmt.Sprintf("%s %s: %s", f.Item, f.Code, plain(f.Message))})
	}
	return printOne(t, o, doc.Raw, fields)
}

// one is a plural in -s as a singular.
func one(plural string) string { return plural[:max(len(plural)-1, 0)] }

func newBulkCancel(t *terminal, server *serverFlags) *cobra.Command {
	return aboutBulk(server, "cancel", "Stop a bulk action; what it has done stays", func(ctx context.Context, c *connection, id uuid.UUID, o *outputFlag) error {
		doc, err := answer.Read[client.BulkActionDetail](c.CancelBulkAction(ctx, c.project, id, nil))
		if err != nil {
			return explain("cancelling the bulk action", err)
		}
		return printBulk(t, o, doc)
	})
}

// withWait adds --wait, and a report of what came of a bulk action that was begun.
func withWait(cmd *cobra.Command, wait *bool) *cobra.Command {
	cmd.Long = cmd.Short + ".\nWith --wait the exit code is 1 when something failed or the bulk action was cancelled."
	cmd.Flags().BoolVar(wait, "wait", false, "wait until it has ended; the exit code is 1 when not all was done")
	return cmd
}

func newBulkRetry(t *terminal, server *serverFlags) *cobra.Command {
	var wait bool
	return withWait(aboutBulk(server, "retry", "Do what failed again, and what was left of one that was cancelled", func(ctx context.Context, c *connection, id uuid.UUID, o *outputFlag) error {
		doc, err := answer.Read[client.BulkActionDetail](c.RetryBulkAction(ctx, c.project, id, nil))
		if err != nil {
			return explain("doing again what failed in the bulk action", err)
		}
		return printBegun(ctx, t, c, o, doc, wait)
	}), &wait)
}

func newBulkUndo(t *terminal, server *serverFlags) *cobra.Command {
	var reason string
	var wait bool
	cmd := withWait(aboutBulk(server, "undo", "Take back what a bulk action has done, by another one", func(ctx context.Context, c *connection, id uuid.UUID, o *outputFlag) error {
		if reason == "" {
			return errNoBulkReason()
		}
		key := uuid.NewString()
		doc, err := answer.Read[client.BulkActionDetail](c.UndoBulkAction(ctx, c.project, id, &client.UndoBulkActionParams{IdempotencyKey: &key}, client.BulkUndo{Reason: reason}))
		if err != nil {
			return explain("undoing the bulk action", err)
		}
		return printBegun(ctx, t, c, o, doc, wait)
	}), &wait)
	cmd.Example = "  ostraka bulk undo BULK --reason \"they were right\" --wait"
	cmd.Flags().StringVar(&reason, "reason", "", "why, for the audit log")
	return cmd
}

// printBegun prints a bulk action that was begun, where that is asked for after its end; then it is an error where not all was done.
func printBegun(ctx context.Context, t *terminal, c *connection, o *outputFlag, doc answer.Document[client.BulkActionDetail], wait bool) (err error) {
	if !wait {
		return printBulk(t, o, doc)
	}
	if doc, err = waitForBulk(ctx, t, c, doc); err != nil {
		return err
	}
	if err := printBulk(t, o, doc); err != nil {
		return err
	}
	return bulkOutcome(doc.Value)
}
