// Package webhook is the room of webhooks, which post a project's events to the outside.
//
// Events are written where they happen, by base.Announce; this room writes webhooks, deliveries, and their outcomes. Three steps carry an
// event: DueWebhooks finds projects with something to do, SpreadWebhooks makes a delivery for each webhook that wants an event, and
// DeliverWebhook sends one, once. A project has MaxAtOnce of the last at a time, each of which begins the next.
package webhook

import (
	"github.com/ostraka/ostraka/functions/base"
	"github.com/ostraka/ostraka/runtime/webhook"
)

// Service is the room.
type Service struct {
	env    *base.Env
	client *webhook.Client
}

// New makes the room.
func New(env *base.Env, client *webhook.Client) *Service {
	return &Service{env: env, client: client}
}
