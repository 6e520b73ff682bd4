package main

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

// allWebhooks is a page that holds every webhook of a project: it has at most 20.
const allWebhooks = 100

// findWebhook finds a webhook by its ID or its name, which no other one of the project has.
func findWebhook(ctx context.Context, c *connection, text string) (uuid.UUID, error) {
	if id, err := uuid.Parse(text); err == nil {
		return id, nil
	}
	most := int64(allWebhooks)
	page, err := answer.Read[client.WebhookList](c.ListWebhooks(ctx, c.project, &client.ListWebhooksParams{Limit: &most}))
	if err != nil {
		return uuid.Nil, explain("looking for the webhook", err)
	}
	for _, w := range page.Value.Items {
		if w.Name == text {
			return w.ID, nil
		}
	}
	return uuid.Nil, &exitError{code: exitNotFound, err: fmt.Errorf("no webhook has the name or the ID %q", text), hint: "ostraka webhook list shows them"}
}
