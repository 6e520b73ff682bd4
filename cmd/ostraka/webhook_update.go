package main

import (
	"context"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/ostraka/ostraka/client"
	"github.com/ostraka/ostraka/client/answer"
)

func newWebhookUpdate(t *terminal, server *serverFlags) *cobra.Command {
	var url string
	var kinds []string
	cmd := aboutWebhook(server, "update", "Give a webhook another URL, or other events; its secret stays", func(ctx context.Context, c *connection, id uuid.UUID, output *outputFlag) error {
		if url == "" && len(kinds) == 0 {
			return usageError("what is to change? give --url, --event or both")
		}
		change := client.WebhookChange{URL: url}
		for _, kind := range kinds {
			change.Kinds = append(change.Kinds, client.WebhookChangeKinds(kind))
		}
		doc, err := answer.Read[client.Webhook](c.UpdateWebhook(ctx, c.project, id, change))
		return showWebhook(t, output, doc, explain("changing the webhook", err))
	})
	cmd.Long = `Give a webhook another URL, or other events. Its secret and its name stay. What waits goes to the new URL, at once; one that is
paused stays so until "ostraka webhook resume".`
	cmd.Example = `  ostraka webhook update chat --url https://hooks.example/moved
  ostraka webhook update chat --event job.failed,flag.raised`
	cmd.Flags().StringVar(&url, "url", "", "where events are posted from now on")
	cmd.Flags().StringSliceVar(&kinds, "event", nil, "which events it gets from now on, instead of the earlier ones (may be repeated)")
	return cmd
}
