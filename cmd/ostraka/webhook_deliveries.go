package main

import (
	"context"
	"net/http"
	"strconv"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

func newWebhookDeliveries(t *terminal, server *serverFlags) *cobra.Command {
	l := &listFlags{}
	cmd := &cobra.Command{
		Use: "deliveries WEBHOOK [DELIVERY]", Short: "List what was sent to a webhook, the newest first, or show one delivery", Args: cobra.RangeArgs(1, 2),
		ValidArgsFunction: server.complete(webhookNames),
		Example: `  ostraka webhook deliveries chat
  ostraka webhook deliveries chat DELIVERY -o json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := l.check(); err != nil {
				return err
			}
			c, err := server.connectProject()
			if err != nil {
				return err
			}
			id, err := findWebhook(cmd.Context(), c, args[0])
			if err != nil {
				return err
			}
			if len(args) == 1 {
				return listDeliveries(cmd.Context(), t, c, l, id)
			}
			delivery, err := parseID("delivery", args[1])
			if err != nil {
				return err
			}
			doc, err := answer.Read[client.WebhookDelivery](c.GetWebhookDelivery(cmd.Context(), c.project, id, delivery))
			if err != nil {
				return explain("getting the delivery", err)
			}
			return showDelivery(t, &l.outputFlag, doc)
		},
	}
	l.register(cmd.Flags())
	return cmd
}

func listDeliveries(ctx context.Context, t *terminal, c *connection, l *listFlags, id uuid.UUID) error {
	return show(t, l, "listing deliveries", []string{"DELIVERY", "EVENT", "AT", "STATE", "TRIES", "NEXT", "ERROR"},
		func(d client.Delivery) []string {
			next := ""
			if d.State == "waiting" {
				next = shortTime(d.NextAt)
			}
			return []string{d.ID.String(), d.Kind, shortTime(d.At), string(d.State), strconv.FormatInt(d.Tries, 10), next, plain(d.Error)}
		},
		func(cursor *string, size *int64) (*http.Response, error) {
			return c.ListWebhookDeliveries(ctx, c.project, id, &client.ListWebhookDeliveriesParams{Cursor: cursor, Limit: size})
		})
}

func newWebhookReplay(t *terminal, server *serverFlags) *cobra.Command {
	var output outputFlag
	cmd := &cobra.Command{
		Use: "replay WEBHOOK DELIVERY", Short: "Send an event to a webhook again, under the same ID", Args: arguments(2),
		ValidArgsFunction: server.complete(webhookNames),
		Example:           "  ostraka webhook replay chat DELIVERY",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := output.check(); err != nil {
				return err
			}
			delivery, err := parseID("delivery", args[1])
			if err != nil {
				return err
			}
			c, err := server.connectProject()
			if err != nil {
				return err
			}
			id, err := findWebhook(cmd.Context(), c, args[0])
			if err != nil {
				return err
			}
			doc, err := answer.Read[client.WebhookDelivery](c.ReplayWebhookDelivery(cmd.Context(), c.project, id, delivery, nil))
			if err != nil {
				return explain("sending the event again", err)
			}
			return showDelivery(t, &output, doc)
		},
	}
	output.register(cmd.Flags())
	return cmd
}

func showDelivery(t *terminal, o *outputFlag, doc answer.Document[client.WebhookDelivery]) error {
	d := doc.Value
	fields := [][2]string{
		{"delivery", d.ID.String()},
		{"message", d.Message},
		{"event", d.Kind},
		{"at", shortTime(d.At)},
		{"state", string(d.State)},
		{"tries", strconv.FormatInt(d.Tries, 10)},
		{"error", plain(d.Error)},
		{"ended", shortTimePtr(d.EndedAt)},
		{"body", plain(string(d.Body))},
	}
	if d.State == "waiting" {
		fields = append(fields, [2]string{"next try", shortTime(d.NextAt)})
	}
	return printOne(t, o, doc.Raw, fields)
}
