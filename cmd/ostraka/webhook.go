package main

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

func newWebhook(t *terminal, server *serverFlags) *cobra.Command {
	return noun("webhook", "Webhooks, which have events posted to a URL",
		newWebhookCreate(t, server), newWebhookList(t, server), newWebhookShow(t, server), newWebhookUpdate(t, server), newWebhookPause(t, server), newWebhookResume(t, server),
		newWebhookRotate(t, server), newWebhookTest(t, server), newWebhookDelete(t, server), newWebhookDeliveries(t, server), newWebhookReplay(t, server),
		newWebhookVerify(t))
}

func newWebhookList(t *terminal, server *serverFlags) *cobra.Command {
	cmd := newList(server, "List webhooks", func(ctx context.Context, c *connection, l *listFlags) error {
		return show(t, l, "listing webhooks", []string{"WEBHOOK", "NAME", "URL", "EVENTS", "STATE", "WAITING", "DELIVERED"},
			func(w client.Webhook) []string {
				return []string{w.ID.String(), w.Name, plain(w.URL), strings.Join(w.Kinds, ","), webhookState(w), strconv.FormatInt(w.Waiting, 10), shortTimePtr(w.DeliveredAt)}
			},
			func(cursor *string, size *int64) (*http.Response, error) {
				return c.ListWebhooks(ctx, c.project, &client.ListWebhooksParams{Cursor: cursor, Limit: size})
			})
	})
	cmd.Example = "  ostraka webhook list -o json"
	return cmd
}

// webhookState says in a word how a webhook is.
func webhookState(w client.Webhook) string {
	switch {
	case w.Paused:
		return "paused"
	case w.FailingSince != nil:
		return "failing"
	default:
		return "active"
	}
}

// aboutWebhook makes a command about one webhook.
func aboutWebhook(server *serverFlags, verb, short string, do func(ctx context.Context, c *connection, id uuid.UUID, output *outputFlag) error) *cobra.Command {
	return named{noun: "webhook", argument: "WEBHOOK", example: "chat", names: webhookNames, find: findWebhook}.about(server, verb, short, do)
}

func newWebhookShow(t *terminal, server *serverFlags) *cobra.Command {
	return aboutWebhook(server, "show", "Show a webhook", func(ctx context.Context, c *connection, id uuid.UUID, output *outputFlag) error {
		doc, err := answer.Read[client.Webhook](c.GetWebhook(ctx, c.project, id))
		return showWebhook(t, output, doc, explain("getting the webhook", err))
	})
}

func newWebhookPause(t *terminal, server *serverFlags) *cobra.Command {
	return aboutWebhook(server, "pause", "Have a webhook get no events until it is resumed", func(ctx context.Context, c *connection, id uuid.UUID, output *outputFlag) error {
		doc, err := answer.Read[client.Webhook](c.PauseWebhook(ctx, c.project, id, nil))
		return showWebhook(t, output, doc, explain("pausing the webhook", err))
	})
}

func newWebhookResume(t *terminal, server *serverFlags) *cobra.Command {
	return aboutWebhook(server, "resume", "Resume a webhook; what waited for it is sent, what happened meanwhile is not", func(ctx context.Context, c *connection, id uuid.UUID, output *outputFlag) error {
		doc, err := answer.Read[client.Webhook](c.ResumeWebhook(ctx, c.project, id, nil))
		return showWebhook(t, output, doc, explain("resuming the webhook", err))
	})
}

func newWebhookDelete(t *terminal, server *serverFlags) *cobra.Command {
	return aboutWebhook(server, "delete", "Delete a webhook with its deliveries, those that wait too", func(ctx context.Context, c *connection, id uuid.UUID, output *outputFlag) error {
		doc, err := answer.Read[client.Webhook](c.GetWebhook(ctx, c.project, id))
		if err != nil {
			return explain("deleting the webhook", err)
		}
		if _, err := answer.Read[struct{}](c.DeleteWebhook(ctx, c.project, id)); err != nil {
			return explain("deleting the webhook", err)
		}
		t.say("deleted the webhook %s", id)
		if output.json() {
			return writeJSON(t.out, doc.Raw)
		}
		return nil
	})
}

func newWebhookTest(t *terminal, server *serverFlags) *cobra.Command {
	cmd := aboutWebhook(server, "test", "Send a test event to a webhook", func(ctx context.Context, c *connection, id uuid.UUID, output *outputFlag) error {
		doc, err := answer.Read[client.WebhookDelivery](c.TestWebhook(ctx, c.project, id, &client.TestWebhookParams{IdempotencyKey: new(uuid.NewString())}))
		if err != nil {
			return explain("testing the webhook", err)
		}
		return showDelivery(t, output, doc)
	})
	cmd.Long = "Send an event of the kind webhook.test to a webhook. \"ostraka webhook deliveries WEBHOOK\" shows the outcome."
	return cmd
}

func showWebhook(t *terminal, o *outputFlag, doc answer.Document[client.Webhook], err error) error {
	if err != nil {
		return err
	}
	w := doc.Value
	fields := [][2]string{
		{"webhook", w.ID.String()},
		{"name", w.Name},
		{"url", plain(w.URL)},
		{"events", strings.Join(w.Kinds, ",")},
		{"state", webhookState(w)},
		{"because", plain(w.PauseReason)},
		{"failing since", shortTimePtr(w.FailingSince)},
		{"last error", plain(w.LastError)},
		{"delivered", shortTimePtr(w.DeliveredAt)},
		{"waiting", strconv.FormatInt(w.Waiting, 10)},
		{"dropped", strconv.FormatInt(w.Dropped, 10)},
		{"created", shortTime(w.CreatedAt) + " by " + plain(w.CreatedBy)},
	}
	return printOne(t, o, doc.Raw, fields)
}
